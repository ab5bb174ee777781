import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../ports/logger.ts';
import type { TerminalTarget } from './locate-terminal.ts';
import type { TerminalStream } from './output/terminal-stream.ts';
import type { TerminalLeases } from './terminal-leases.ts';

/** A container under load ends in its own time. What is left after the last attempt is for the reaper. */
const RETRY_AFTER_MS: readonly number[] = [1_000, 4_000];

export type TerminalEnding = ReturnType<typeof terminalCleanup>;

/** Ends terminals in their containers, and takes them off the record of what this process has there. */
export function terminalCleanup(
  leases: TerminalLeases,
  log: Logger,
  retryAfterMs: readonly number[] = RETRY_AFTER_MS,
) {
  const ends = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** The session of a pane outlives a restart of the service, for as long as its client may come back. */
  const isLeft = ({ isMain }: TerminalTarget): boolean => stopping.signal.aborted && !isMain;

  /**
   * The row goes last: by it the reaper finds what is still there. It stays where the container is to go down: a container
   * that is paused, or that does not stop, keeps its programs. The last one who shows a pane ends its session.
   */
  async function endBoth(
    target: TerminalTarget,
    stream: TerminalStream,
    withContainer: boolean,
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

  async function endWithRetries(
    target: TerminalTarget,
    stream: TerminalStream,
    withContainer: boolean,
  ): Promise<void> {
    for (const afterMs of retryAfterMs) {
      try {
        return await endBoth(target, stream, withContainer);
      } catch (err) {
        if (stopping.signal.aborted) throw err;
        log.info({ err, afterMs }, 'could not end a terminal; retrying');
        await delay(afterMs, undefined, { signal: stopping.signal });
      }
    }
    await endBoth(target, stream, withContainer);
  }

  return {
    /**
     * `withContainer`: the container goes down, and all in it. To end a hundred programs one by one beside that keeps the
     * engine from it. The reaper takes them off the record, or ends them if the container stays up after all.
     */
    end(target: TerminalTarget, stream: TerminalStream, withContainer: boolean): void {
      leases.ending(stream.id);
      const ended = endWithRetries(target, stream, withContainer)
        .catch((err: unknown) => log.warn({ err }, 'could not end a terminal; leaving it to the reaper'))
        .finally(() => {
          // Until the process is gone its reaper works: what is left for a client is not to be taken for a leftover.
          if (!isLeft(target)) leases.leave(stream.id);
          ends.delete(ended);
        });
      ends.add(ended);
    },

    /** The service stops: sessions that a client may come back to are left in their containers. */
    leaveWhatStays: (): void => stopping.abort(),

    /** When all that was to end has ended. */
    idle: async (): Promise<void> => void (await Promise.all(ends)),
  };
}
