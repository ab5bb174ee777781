const MAX_IN_PARSER_BYTES = 512 * 1024;
const MAX_HELD_BYTES = 32 * 1024 * 1024;

export type OutputQueue = {
  push(data: Uint8Array): void;
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
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  let inParser = 0;
  let flooded = false;

  const feed = (): void => {
    while (inParser < MAX_IN_PARSER_BYTES) {
      const data = held.shift();
      if (data === undefined) break;
      heldBytes -= data.length;
      inParser += data.length;
      sink.write(data, () => {
        inParser -= data.length;
        feed();
      });
    }
    if (flooded && heldBytes === 0) {
      flooded = false;
      sink.drained();
    }
  };

  return {
    push(data) {
      held.push(data);
      heldBytes += data.length;
      feed();
      if (heldBytes > maxHeldBytes && !flooded) {
        flooded = true;
        sink.flooded();
      }
    },
    get heldBytes() {
      return heldBytes;
    },
  };
}
