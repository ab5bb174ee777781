import type { WebSocket } from 'ws';
import { encodeFrame, type ServerFrame } from '../../protocol/terminal-frames.ts';

const MAX_UNSENT = 64;

/** Answers what a socket asks. Who asks on and on and reads nothing is not answered any more until they do. */
export function answersOf(
  socket: Pick<WebSocket, 'send'>,
  maxUnsent = MAX_UNSENT,
): (frame: ServerFrame) => void {
  let unsent = 0;
  const sent = (): void => {
    unsent -= 1;
  };
  return (frame) => {
    if (unsent >= maxUnsent) return;
    unsent += 1;
    socket.send(encodeFrame(frame), sent);
  };
}
