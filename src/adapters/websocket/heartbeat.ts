import type { WebSocket } from 'ws';

const PING_EVERY_MS = 30_000;
const MISSED_PINGS = 2;
/** Time to answer the last ping. */
const ANSWER_WITHIN_MS = 14_000;

/** Pings the peer every 30 s and drops it after two unanswered pings: within 75 s of the loss. */
export function keepAlive(
  socket: Pick<WebSocket, 'on' | 'once' | 'ping' | 'terminate'>,
  onPong: () => void,
): void {
  let unanswered = 0;
  let deadline: NodeJS.Timeout | undefined;
  socket.on('pong', () => {
    unanswered = 0;
    clearTimeout(deadline);
    onPong();
  });
  const timer = setInterval(() => {
    unanswered += 1;
    socket.ping();
    if (unanswered === MISSED_PINGS) deadline = setTimeout(() => socket.terminate(), ANSWER_WITHIN_MS);
  }, PING_EVERY_MS);
  socket.once('close', () => {
    clearInterval(timer);
    clearTimeout(deadline);
  });
}
