import type { Connection } from '../../../src/client/terminal/connection.ts';

const MAX_IN_PARSER_BYTES = 512 * 1024;
const MAX_QUEUED_BYTES = 32 * 1024 * 1024;

export type OutputQueue = {
  /** Calls `done` when it is on the screen. */
  push(data: Uint8Array, done?: () => void): void;
  /** Takes back the output that the screen does not have yet. */
  takeWaiting(): readonly Uint8Array[];
  readonly queuedBytes: number;
};

/** Takes bytes, and calls back when they are on the screen. */
type Write = (data: Uint8Array, done: () => void) => void;

/**
 * Gives output to the screen as fast as it draws: xterm.js drops bytes when too much is queued in it. The connection
 * pauses while too much is queued here; one that was closed meanwhile stays closed.
 */
export function outputQueue(
  write: Write,
  connection: () => Pick<Connection, 'pauseOutput' | 'resumeOutput'>,
  maxQueuedBytes: number = MAX_QUEUED_BYTES,
): OutputQueue {
  let queued: { readonly data: Uint8Array; readonly done: (() => void) | undefined }[] = [];
  /** Of the first one that waits: `shift` would move all others, and there may be millions of small ones. */
  let first = 0;
  let queuedBytes = 0;
  let inParser = 0;
  let flooded = false;

  const feed = (): void => {
    while (inParser < MAX_IN_PARSER_BYTES) {
      const next = queued[first];
      if (next === undefined) break;
      first += 1;
      const { data, done } = next;
      queuedBytes -= data.length;
      inParser += data.length;
      write(data, () => {
        inParser -= data.length;
        done?.();
        feed();
      });
    }
    if (first * 2 > queued.length) {
      queued = queued.slice(first);
      first = 0;
    }
    if (flooded && queuedBytes === 0) {
      flooded = false;
      connection().resumeOutput();
    }
  };

  return {
    push(data, done) {
      queued.push({ data, done });
      queuedBytes += data.length;
      feed();
      if (queuedBytes > maxQueuedBytes && !flooded) {
        flooded = true;
        connection().pauseOutput();
      }
    },
    takeWaiting() {
      const taken = queued.slice(first);
      queued = [];
      first = 0;
      queuedBytes = 0;
      return taken.map(({ data }) => data);
    },
    get queuedBytes() {
      return queuedBytes;
    },
  };
}
