import type { Logger } from '../ports/logger.ts';
import type { TerminalHolding } from './terminal-holding.ts';
import type { Place } from './terminal-place.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** Ends terminals in their containers, and takes them off the record of what this process has there. */
export function terminalEnding(holding: TerminalHolding, log: Logger) {
  const ends = new Set<Promise<void>>();
  let isStopping = false;

  /** The session of a pane outlives a restart of the service, for as long as its client may come back. */
  const isLeft = ({ isMain }: Place): boolean => isStopping && !isMain;

  /** The last one who shows a pane ends its session; not shown by anybody else is known once this one is off the record. */
  async function endBoth(
    place: Place,
    { id, muxSession, end }: TerminalStream,
    withContainer: boolean,
  ): Promise<void> {
    await end(withContainer);
    if (isLeft(place)) return;
    await holding.drop(id);
    if (withContainer) return;
    const isShown = (): Promise<boolean> => holding.isShown(place);
    if (place.isMain || muxSession === null || (await isShown())) return;
    await place.endSession(place.muxSession, isShown);
  }

  return {
    /**
     * `withContainer`: the container goes down, and all in it. To end a hundred programs one by one beside that keeps the
     * engine from it; what is there of them if it stays up after all is found as a leftover.
     */
    end(place: Place, stream: TerminalStream, withContainer: boolean): void {
      holding.ending(stream.id);
      const ended = endBoth(place, stream, withContainer)
        .catch((err: unknown) => log.warn({ err }, 'a terminal could not be ended'))
        .finally(() => {
          // Until the process is gone its reaper works: what is left for a client is not to be taken for a leftover.
          if (!isLeft(place)) holding.leave(stream.id);
          ends.delete(ended);
        });
      ends.add(ended);
    },

    /** The service stops: sessions that a client may come back to are left in their containers. */
    leaveWhatStays(): void {
      isStopping = true;
    },

    /** When all that was to end has ended. */
    idle: async (): Promise<void> => void (await Promise.all(ends)),
  };
}
