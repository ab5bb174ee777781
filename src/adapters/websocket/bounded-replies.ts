import type { WebSocket } from 'ws';
import type { ServerFrame } from '../../protocol/terminal-frames.ts';

const MAX_UNSENT = 64;

/** Answers a socket's requests. A client that reads nothing gets no more answers until it does. */
export function answersOf<F extends object = ServerFrame>(
  socket: Pick<WebSocket, 'send'>,
): (frame: F) => void {
  let unsent = 0;
  const sent = (): void => {
    unsent -= 1;
  };
  return (frame) => {
    if (unsent >= MAX_UNSENT) return;
    unsent += 1;
    socket.send(JSON.stringify(frame), sent);
  };
}
