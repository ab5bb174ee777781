import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../ports/logger.ts';
import type { TerminalTarget } from '../opening/locate-terminal.ts';
import type { TerminalStream } from '../output/terminal-stream.ts';
import type { TerminalLeases } from './terminal-leases.ts';

/** A container under load may need time. The reaper handles what remains after the last attempt. */
const RETRY_AFTER_MS: readonly number[] = [1_000, 4_000];

type Ended = {
  readonly target: TerminalTarget;
  readonly stream: TerminalStream;
  readonly withContainer: boolean;
};

export type TerminalEnding = ReturnType<typeof terminalCleanup>;

/** Ends terminals in their containers and removes their leases. */
export function terminalCleanup(
  leases: TerminalLeases,
  log: Logger,
  retryAfterMs: readonly number[] = RETRY_AFTER_MS,
) {
  const ends = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** A pane's session outlives a restart of the service while its client may return. */
  const isLeft = ({ isMain }: TerminalTarget): boolean => stopping.signal.aborted && !isMain;

  const endOnce = (ended: Ended): Promise<void> => endBoth(leases, ended, isLeft);

  async function endWithRetries(ended: Ended): Promise<void> {
    for (const afterMs of retryAfterMs) {
      try {
        return await endOnce(ended);
      } catch (err) {
        if (stopping.signal.aborted) throw err;
        log.info({ err, afterMs }, 'could not end a terminal; retrying');
        await delay(afterMs, undefined, { signal: stopping.signal });
      }
    }
    await endOnce(ended);
  }

  return {
    /**
     * `withContainer`: the whole container goes down; ending its programs one by one would delay the engine. The reaper
     * removes the leases, or ends the programs if the container stays up.
     */
    end(target: TerminalTarget, stream: TerminalStream, withContainer: boolean): void {
      leases.ending(stream.id);
      const ended = endWithRetries({ target, stream, withContainer })
        .catch((err: unknown) => log.warn({ err }, 'could not end a terminal; leaving it to the reaper'))
        .finally(() => {
          // Until the process ends its reaper runs, and must not treat what waits for a client as a leftover.
          if (!isLeft(target)) leases.leave(stream.id);
          ends.delete(ended);
        });
      ends.add(ended);
    },

    /** The service stops: sessions that a client may return to stay in their containers. */
    leaveWhatStays: (): void => stopping.abort(),

    idle: async (): Promise<void> => void (await Promise.all(ends)),
  };
}

/**
 * The lease goes last, since the reaper finds leftovers by it. It stays when the container goes down, since a container
 * that is paused or does not stop keeps its programs. Only the last viewer of a pane ends its session.
 */
async function endBoth(
  leases: TerminalLeases,
  { target, stream, withContainer }: Ended,
  isLeft: (target: TerminalTarget) => boolean,
): Promise<void> {
  const { id, muxSession } = stream;
  await stream.end(withContainer);
  if (withContainer || isLeft(target)) return;
  if (!target.isMain && muxSession !== null) {
    await leases.markEnding(id);
    await target.endSession(target.muxSession, () => leases.isShown(target));
  }
  await leases.drop(id);
}
