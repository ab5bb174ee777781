import { CLOSE, type CloseReason } from './terminal.ts';
import { type ContainerStatus, takedownReason } from './terminal-close-reason.ts';

/** How the stream of a terminal ended. */
export type StreamEnd =
  /** Its program has ended; `code` is null where it is not known, as after a kill from outside. */
  | { readonly kind: 'exited'; readonly code: number | null }
  /** The connection broke, or the program was detached from: it may run on. */
  | { readonly kind: 'lost' };

/**
 * Why a terminal could not be opened. `no_processes`: its container has as many as it may have. `storage`: the database did not
 * answer. `unresponsive`: no process starts in the container.
 */
export type OpenFault = 'no_processes' | 'storage' | 'unresponsive' | 'other';

/** What the engine says of a terminal's container. `silent`: it does not answer. */
export type EngineSight = 'running' | 'paused' | 'stopped' | 'gone' | 'silent';

/** Exit codes of SIGHUP, SIGKILL and SIGTERM: what a container that goes down sends to its programs. */
const CODES_OF_A_STOP: readonly number[] = [129, 137, 143];

/** Whether the container may have ended the program, so that the engine is to be asked. */
export const mayBeContainers = (end: StreamEnd): boolean =>
  end.kind === 'lost' || end.code === null || CODES_OF_A_STOP.includes(end.code);

/** A multiplexer that dies this soon, and with it a shell whose end nobody saw, has not begun. */
const NOT_BEGUN_WITHIN_MS = 1_000;

/**
 * Why the stream of a terminal in the engine's container `runtimeId` has ended. `row` is undefined when the database
 * does not answer, and null when there is no such container; `engine` is null where it needs not be asked.
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

/** Why the opening of a terminal failed, as its client is told. */
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

/** The row knows why; the engine knows whether. */
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
