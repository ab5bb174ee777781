const MAX_IN_PARSER_BYTES = 512 * 1024;
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export type OutputQueue = {
  /** Calls `done` when it is on the screen. */
  push(data: Uint8Array, done?: () => void): void;
  /** Takes back what the screen has not been given yet. */
  takeWaiting(): readonly Uint8Array[];
  readonly heldBytes: number;
};

type Sink = {
  /** Takes bytes, and calls back when they are on the screen. */
  readonly write: (data: Uint8Array, done: () => void) => void;
  /** More is waiting than the page should hold; `drained` follows. */
  readonly flooded: () => void;
  readonly drained: () => void;
};

/**
 * Hands output to the screen as fast as it draws and no faster: xterm.js throws bytes away when it is given too
 * much at once.
 */
export function outputQueue(sink: Sink, maxHeldBytes: number = MAX_HELD_BYTES): OutputQueue {
  let held: { readonly data: Uint8Array; readonly done: (() => void) | undefined }[] = [];
  let heldBytes = 0;
  let inParser = 0;
  let flooded = false;

  const feed = (): void => {
    while (inParser < MAX_IN_PARSER_BYTES) {
      const next = held.shift();
      if (next === undefined) break;
      const { data, done } = next;
      heldBytes -= data.length;
      inParser += data.length;
      sink.write(data, () => {
        inParser -= data.length;
        done?.();
        feed();
      });
    }
    if (flooded && heldBytes === 0) {
      flooded = false;
      sink.drained();
    }
  };

  return {
    push(data, done) {
      held.push({ data, done });
      heldBytes += data.length;
      feed();
      if (heldBytes > maxHeldBytes && !flooded) {
        flooded = true;
        sink.flooded();
      }
    },
    takeWaiting() {
      const taken = held;
      held = [];
      heldBytes = 0;
      return taken.map(({ data }) => data);
    },
    get heldBytes() {
      return heldBytes;
    },
  };
}
