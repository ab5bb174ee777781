import { type Static, type TObject, Type } from '@sinclair/typebox';
import type { Berth, Container } from '../client/index.ts';

/** What the tools of one connection may do, beside the rights of its token. */
export type ToolScope = {
  /** Names or ids of the only containers that the tools see; null for all that the token reaches. */
  readonly containers: readonly string[] | null;
  /** Whether there is a tool that makes containers. */
  readonly mayCreate: boolean;
  readonly mayDelete: boolean;
};

export type ToolContext = {
  readonly berth: Berth;
  readonly scope: ToolScope;
  /** Whether messages can be sent while a call lasts. */
  readonly notifies: boolean;
};

export type ToolHints = {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  /** Whether it reaches beyond the container: a command may. */
  readonly openWorldHint: boolean;
};

/** `run` gets arguments that fit `input`, and returns the text of the answer. */
export type Tool<Input extends TObject = TObject> = {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly hints: ToolHints;
  run(context: ToolContext, args: Static<Input>, signal: AbortSignal): Promise<string>;
};

/** A refusal in words for the model: it may try again with other arguments. */
export class ToolRefusal extends Error {
  override name = 'ToolRefusal';
}

const HINTS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
export const READS: ToolHints = { ...HINTS, readOnlyHint: true, idempotentHint: true };
export const CHANGES: ToolHints = { ...HINTS, idempotentHint: true };
export const CREATES: ToolHints = HINTS;
export const DESTROYS: ToolHints = { ...HINTS, destructiveHint: true };
export const RUNS: ToolHints = { ...DESTROYS, openWorldHint: true };

/** Keeps the types of a tool's arguments inside, for lists of tools. */
export const aTool = <Input extends TObject>(tool: Tool<Input>): Tool => tool as unknown as Tool;

export const closed = <T extends Parameters<typeof Type.Object>[0]>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

/** The argument that names the container. */
export const inContainer = { container: Type.Optional(Type.String({ description: 'Name or id.' })) };

/** The container that the arguments name; with a single one in scope, it need not be named. */
export async function containerOf(
  { berth, scope }: ToolContext,
  { container }: { readonly container?: string | undefined },
  signal: AbortSignal,
): Promise<Container> {
  const [only, ...others] = scope.containers ?? [];
  const wanted = container ?? (others.length === 0 ? only : undefined);
  if (wanted === undefined)
    throw new ToolRefusal('container is required: call list_containers for the names');
  const found = await berth.container(wanted, { signal });
  if (!isInScope(scope, found.info)) throw new ToolRefusal('container not found');
  return found;
}

export const isInScope = (
  { containers }: ToolScope,
  { id, db_id, name }: { readonly id: string | null; readonly db_id: string; readonly name: string },
): boolean => containers === null || containers.some((one) => [id, db_id, name].includes(one));
