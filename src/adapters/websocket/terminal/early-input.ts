import type { RawData, WebSocket } from 'ws';

const MAX_FRAMES = 256;
const MAX_BYTES = 1_048_576;

/** Keeps what a client sends before its terminal is open. `tooMuch`: it sends more than is kept. */
export function keepEarlyInput(socket: WebSocket, tooMuch: () => void) {
  const frames: [RawData, boolean][] = [];
  let keptBytes = 0;
  const keep = (data: RawData, isBinary: boolean): void => {
    keptBytes += (data as Buffer).length;
    if (frames.length < MAX_FRAMES && keptBytes <= MAX_BYTES) frames.push([data, isBinary]);
    else tooMuch();
  };
  socket.on('message', keep);
  return {
    stop: (): void => void socket.off('message', keep),
    /** Passes what was kept to the socket's present listeners. */
    replay(): void {
      for (const [data, isBinary] of frames) socket.emit('message', data, isBinary);
    },
  };
}
