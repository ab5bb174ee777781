import { CLOSE, type CloseReason } from './terminal.ts';
import { type ContainerStatus, takedownReason } from './terminal-close-reason.ts';

/** How a terminal's stream ended. */
export type StreamEnd =
  /** The program has exited; `code` is null when unknown, as after a kill from outside. */
  | { readonly kind: 'exited'; readonly code: number | null }
  /** The connection broke or the client was detached; the program may still run. */
  | { readonly kind: 'lost' };

/**
 * Why a terminal could not be opened. `no_processes`: the container is at its process limit. `storage`: the database
 * did not answer. `unresponsive`: no process starts in the container.
 */
export type OpenFault = 'no_processes' | 'storage' | 'unresponsive' | 'other';

/** The engine's view of a terminal's container. `silent`: no answer. */
export type EngineSight = 'running' | 'paused' | 'stopped' | 'gone' | 'silent';

/** Exit codes of SIGHUP, SIGKILL and SIGTERM, which a stopping container sends to its programs. */
const CODES_OF_A_STOP: readonly number[] = [129, 137, 143];

/** Whether the container may have ended the program, so the engine must be asked. */
export const mayBeContainers = (end: StreamEnd): boolean =>
  end.kind === 'lost' || end.code === null || CODES_OF_A_STOP.includes(end.code);

/** A multiplexer that dies this early without an exit code did not start its shell. */
const NOT_BEGUN_WITHIN_MS = 1_000;

/**
 * Why the stream of a terminal in the engine's container `runtimeId` ended. `row` is undefined without an answer of the
 * database, null for no such container; `engine` is null when it need not be asked.
 */
export function closeAfterEnd(
  end: StreamEnd & { readonly ranMs: number },
  row: ContainerStatus | null | undefined,
  runtimeId: string,
  engine: EngineSight | null,
): CloseReason {
  const down = downReason(row, runtimeId, engine);
  if (down !== null) return down;
  if (end.kind === 'exited' && end.code === null && end.ranMs < NOT_BEGUN_WITHIN_MS) return CLOSE.notOpened;
  return end.kind === 'exited' ? CLOSE.ended : CLOSE.detached;
}

/** The reason given to the client when opening its terminal failed. */
export function closeAfterFault(
  fault: OpenFault,
  row: ContainerStatus | null | undefined,
  runtimeId: string,
  engine: EngineSight,
): CloseReason {
  const down = downReason(row, runtimeId, engine);
  if (down !== null) return down;
  if (fault === 'storage') return CLOSE.tryAgainLater;
  if (fault === 'unresponsive') return CLOSE.unresponsive;
  return fault === 'no_processes' ? CLOSE.tooManyProcesses : CLOSE.notOpened;
}

/** The row knows the reason; the engine knows whether the container is down. */
function downReason(
  row: ContainerStatus | null | undefined,
  runtimeId: string,
  engine: EngineSight | null,
): CloseReason | null {
  const reason = row === undefined ? null : takedownReason(row, runtimeId);
  if (reason !== null) return reason;
  const isDown = engine === 'stopped' || engine === 'gone' || engine === 'paused';
  return isDown ? CLOSE.containerStopped : null;
}
