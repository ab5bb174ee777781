import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import { type ClosedTerminal, recordClosed } from './terminal-records.ts';

const AT_ONCE = 200;
const AGAIN_MS = 1_000;

/** Keeps no process alive: who ends it has waited long enough by then. */
const unwatched = (ms: number): Promise<void> => delay(ms, undefined, { ref: false });

/**
 * Puts on record that terminals have closed: those of the same moment together, as a thousand transactions would keep
 * everybody else from the database, and again until it has them. What it answers ends when the record is written.
 */
export function terminalEndRecords(
  { inTransaction }: Pick<Storage, 'inTransaction'>,
  log: Logger,
  pause = unwatched,
) {
  const waiting: { readonly closed: ClosedTerminal; readonly written: () => void }[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const now = waiting.slice(0, AT_ONCE);
      try {
        await inTransaction((tx) =>
          recordClosed(
            tx,
            now.map(({ closed }) => closed),
          ),
        );
        for (const { written } of waiting.splice(0, now.length)) written();
      } catch (err) {
        log.error({ err, terminals: waiting.length }, 'could not record the end of terminals yet');
        await pause(AGAIN_MS);
      }
    }
    isWriting = false;
  }

  return (closed: ClosedTerminal): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push({ closed, written: resolve });
    if (!isWriting) void write();
    return promise;
  };
}
