import type { WebSocket } from 'ws';

/** Sends a frame: a string as text, bytes as binary. Resolves when the connection takes more. */
export const sent = (socket: Pick<WebSocket, 'send'>, frame: string | Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const done = (error?: Error | null): void =>
      error === undefined || error === null ? resolve() : reject(error);
    socket.send(frame, { binary: typeof frame !== 'string' }, done);
  });
