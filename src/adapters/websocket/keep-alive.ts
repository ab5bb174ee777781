import type { WebSocket } from 'ws';
import { CLOSE, type CloseReason } from '../../domain/terminal.ts';

const PING_EVERY_MS = 30_000;
const MISSED_PINGS = 2;

/**
 * Pings the peer every 30 s and drops it after two unanswered ones, so that a dead line is noticed within 75 s.
 * With each ping the right to be here is looked at again; `typed` says whether anything was since the last time.
 */
export function keepAlive(
  socket: WebSocket,
  stillAllowed: (typed: boolean) => Promise<boolean>,
  close: (reason: CloseReason) => void,
): void {
  let unanswered = 0;
  let typed = false;
  socket.on('message', (_data, isBinary) => {
    typed ||= isBinary;
  });
  socket.on('pong', () => {
    unanswered = 0;
  });
  const timer = setInterval(() => {
    if (unanswered >= MISSED_PINGS) {
      socket.terminate();
      return;
    }
    unanswered += 1;
    socket.ping();
    stillAllowed(typed)
      .then((allowed) => allowed || close(CLOSE.unauthorized))
      // A database that does not answer is no reason to end a terminal.
      .catch(() => undefined);
    typed = false;
  }, PING_EVERY_MS);
  socket.once('close', () => clearInterval(timer));
}
