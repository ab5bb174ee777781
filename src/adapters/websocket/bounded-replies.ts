import type { WebSocket } from 'ws';
import type { ServerMessage } from './terminal/terminal-protocol.ts';

const MAX_UNSENT = 64;

/** Answers what a socket asks. Who asks on and on and reads nothing is not answered any more until they do. */
export function answersOf(
  socket: Pick<WebSocket, 'send'>,
  maxUnsent = MAX_UNSENT,
): (message: ServerMessage) => void {
  let unsent = 0;
  const sent = (): void => {
    unsent -= 1;
  };
  return (message) => {
    if (unsent >= maxUnsent) return;
    unsent += 1;
    socket.send(JSON.stringify(message), sent);
  };
}
