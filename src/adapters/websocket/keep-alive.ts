import type { WebSocket } from 'ws';

const PING_EVERY_MS = 30_000;
const MISSED_PINGS = 2;

/**
 * Pings the peer every 30 s and drops it after two unanswered ones, so that a dead line is noticed within 75 s.
 */
export function keepAlive(socket: WebSocket, onPong: () => void): void {
  let unanswered = 0;
  socket.on('pong', () => {
    unanswered = 0;
    onPong();
  });
  const timer = setInterval(() => {
    if (unanswered >= MISSED_PINGS) {
      socket.terminate();
      return;
    }
    unanswered += 1;
    socket.ping();
  }, PING_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
}
