import { repeat } from '../../../concurrency/repeat.ts';
import type { Container } from '../../../domain/containers/container.ts';
import {
  nextRoleSetup,
  outputTail,
  type RoleSetup,
  TAIL_CHARACTERS,
} from '../../../domain/containers/role-setup.ts';
import { progressEvent } from '../../../domain/events.ts';
import {
  ContainerNotRunning,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import type { CommandEvent, RunningCommand } from '../../../ports/containers/inside/container-commands.ts';
import type { RoleSetupDeps } from './role-setup-deps.ts';

/** No honest installer prints more. */
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const REPORT_EVERY_MS = 2_000;
/** Escape sequences make the text longer than its visible part. */
const KEPT_CHARACTERS = 4 * TAIL_CHARACTERS;

/** An attempt whose lease this process has. `signal` ends it; its state is then decided elsewhere. */
export type Try = { readonly container: Container; readonly id: string; readonly signal: AbortSignal };

/** How an attempt ended; null: unknown, or decided elsewhere. */
type End = 'ready' | { readonly failed: string } | 'stopped' | null;

/**
 * Installs the tools and records progress and result. After an engine error the setup stays due: the lease is released
 * and the result is 'due'.
 */
export async function installTools(deps: RoleSetupDeps, one: Try): Promise<'over' | 'due'> {
  const output: Output = { text: '', bytes: 0 };
  const end = await attempt(deps, one, output).catch((error: unknown) => endOfFault(deps, one, error));
  if (one.signal.aborted) return 'over';
  if (end === null) {
    await deps.storage.repositories.roleSetups.release(one.id, deps.owner);
    return 'due';
  }
  await write(deps, one, setupAfter(one, end, outputTail(output.text)));
  return 'over';
}

type Output = { text: string; bytes: number };

function setupAfter({ container, id }: Try, end: Exclude<End, null>, tail: string): RoleSetup {
  if (end === 'stopped') return nextRoleSetup(container.roleSetup, { what: 'stopped', id });
  const words = end === 'ready' ? [] : [end.failed];
  const detail = [tail, ...words].filter((part) => part !== '').join('\n');
  return nextRoleSetup(container.roleSetup, { what: 'ended', well: end === 'ready', detail });
}

async function attempt(deps: RoleSetupDeps, one: Try, output: Output): Promise<End> {
  const { container, signal } = one;
  const role = await deps.storage.repositories.catalogue.role(container.role);
  if (role === null) return { failed: `the catalogue no longer has the role ${container.role}` };
  const { node, runtimeId } = container;
  if (runtimeId === null) return 'stopped';
  if (!deps.runtime.capabilities.hasRoot)
    return { failed: 'not installed: that needs root, which the engine does not give' };
  const command = await deps.installer.install({ node, runtimeId }, role);
  const end = (): void => void command.end();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const report = async (): Promise<void> => {
    const input = { what: 'printed', detail: outputTail(output.text) } as const;
    // It was taken over or cancelled, or its container was recreated.
    if (!(await write(deps, one, nextRoleSetup(container.roleSetup, input)))) end();
  };
  const stopReports = repeat(REPORT_EVERY_MS, report, deps.log);
  try {
    return await follow(deps, one, command, output);
  } finally {
    signal.removeEventListener('abort', end);
    await stopReports();
    await command.end();
  }
}

async function follow(
  { runtime }: RoleSetupDeps,
  { container, signal }: Try,
  command: RunningCommand,
  output: Output,
): Promise<End> {
  const take = taking(output);
  for await (const event of command.events) {
    if (event.kind === 'output') take(event);
    if (output.bytes > MAX_OUTPUT_BYTES) return { failed: 'stopped: it printed more than 16 MiB' };
    if (event.kind !== 'exit') continue;
    if (event.exitCode === 0) return 'ready';
    if (signal.aborted) return null;
    const { node, runtimeId } = container;
    const seen = await runtime.observe({ node, runtimeId: runtimeId ?? '' });
    if (seen.kind !== 'running') return 'stopped';
    return {
      failed: event.exitCode === null ? 'stopped: it took too long' : `exited with code ${event.exitCode}`,
    };
  }
  return null;
}

function taking(output: Output): (event: Extract<CommandEvent, { kind: 'output' }>) => void {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  return ({ stream, data }) => {
    output.bytes += data.length;
    output.text = (output.text + decoders[stream].decode(data, { stream: true })).slice(-KEPT_CHARACTERS);
  };
}

/** A silent engine says nothing about the tools: another attempt follows. */
function endOfFault({ log }: RoleSetupDeps, { container, signal }: Try, error: unknown): End {
  if (signal.aborted) return null;
  log.warn({ err: error, dbId: container.dbId }, 'the tools of a role could not be installed');
  if (error instanceof RuntimeUnavailable) return null;
  if (error instanceof ContainerNotRunning) return 'stopped';
  if (error instanceof RuntimeFailure) return { failed: 'the engine could not run the installer' };
  return null;
}

/** Row and event in one transaction. False when the lease is lost. */
const write = async (
  { storage, owner }: RoleSetupDeps,
  { id, container: { dbId } }: Pick<Try, 'id' | 'container'>,
  setup: RoleSetup,
): Promise<boolean> =>
  await storage.inTransaction(async (tx) => {
    await tx.roleSetups.findForUpdate(dbId);
    const container = await tx.roleSetups.record(id, owner, setup);
    if (container === null) return false;
    await tx.events.append(progressEvent(container));
    return true;
  });
