import type { FieldFaults } from '../../field-faults.ts';
import { commandFaults } from '../command.ts';

export const MAX_KEPT_BYTES = 8_388_608;
export const MAX_NAME_LENGTH = 64;

/** Running processes of one container, and of one user. */
export const MAX_RUNNING_PER_CONTAINER = 64;
export const MAX_RUNNING_PER_USER = 256;

/** The size of a process's terminal in characters; 1 to 1000 each. */
export type PtySize = { readonly cols: number; readonly rows: number };

/** What a client asks for. */
export type ProcessRequest = {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Relative to /workspace; null for that. */
  readonly workdir: string | null;
  readonly takesInput: boolean;
  /** The size of its terminal, in which all output is stdout; null without one. */
  readonly terminal: PtySize | null;
  /** null: no limit. */
  readonly timeoutSeconds: number | null;
  /** Of each output; the oldest is removed. */
  readonly keptBytes: number;
};

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,63}$/;

export function processFaults({ command, env }: ProcessRequest, name: string | null): FieldFaults {
  const badName = name !== null && !NAME.test(name);
  return {
    ...commandFaults({ command, env }),
    ...(badName
      ? {
          name: 'must be 1 to 64 letters, digits, dots, hyphens or underscores, beginning with a letter or digit',
        }
      : {}),
  };
}

/** The name of a process without one: its program's. */
export function defaultName([program = '']: readonly string[]): string {
  const name = (program.split('/').at(-1) ?? '').replace(/[^a-zA-Z0-9._-]/g, '-').slice(0, MAX_NAME_LENGTH);
  return NAME.test(name) ? name : 'process';
}
