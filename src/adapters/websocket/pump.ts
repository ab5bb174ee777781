import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** Unsent bytes at which the program is paused, and at which it goes on (R44). */
const PAUSE_BYTES = 1_048_576;
const RESUME_BYTES = 262_144;
/** A reader that takes nothing for so long is closed; its program waits for it in the multiplexer. */
const STALL_MS = 60_000;

/**
 * Moves terminal bytes from the engine to the socket without copying them, and lets a slow reader pause the
 * program: the stream is paused while too much is unsent. Returns what undoes it.
 */
export function pumpOutput(from: Duplex, to: WebSocket, onStall: () => void): () => void {
  let stall: NodeJS.Timeout | undefined;

  const drained = (): void => {
    if (!from.isPaused() || to.bufferedAmount > RESUME_BYTES) return;
    clearTimeout(stall);
    from.resume();
  };
  const forward = (chunk: Buffer): void => {
    to.send(chunk, { binary: true }, drained);
    if (to.bufferedAmount < PAUSE_BYTES || from.isPaused()) return;
    from.pause();
    stall = watchProgress(to, onStall);
  };
  from.on('data', forward);
  return () => {
    clearTimeout(stall);
    from.off('data', forward);
  };
}

function watchProgress(socket: WebSocket, onStall: () => void): NodeJS.Timeout {
  let before = socket.bufferedAmount;
  const timer = setInterval(() => {
    if (socket.bufferedAmount >= before) {
      clearInterval(timer);
      onStall();
    }
    before = socket.bufferedAmount;
  }, STALL_MS);
  return timer;
}

/** Writes input to the terminal; stops reading the socket while the program does not take it. */
export function writeInput(socket: WebSocket, to: Duplex, chunk: Buffer): void {
  if (to.writable && !to.write(chunk) && !socket.isPaused) {
    socket.pause();
    to.once('drain', () => socket.resume());
  }
}
