import type { WebSocket } from 'ws';
import { CLOSE } from '../../domain/terminals/terminal.ts';

const ANSWER_WITHIN_MS = 500;
const SOONEST_MS = 500;
const LATEST_MS = 5_000;

const LOST_RIGHT: readonly number[] = [CLOSE.unauthorized.code, CLOSE.collaborationEnded.code];
type Close = { readonly code: number; readonly reason: string };

/** Closes a socket. Who has lost the right to it and does not answer is cut off. */
export function hangUp(socket: WebSocket, { code, reason }: Close): void {
  if (code === CLOSE.serviceRestarting.code) socket.send(comeBack());
  socket.close(code, reason);
  if (!LOST_RIGHT.includes(code) || socket.readyState === socket.CLOSED) return;
  const timer = setTimeout(() => socket.terminate(), ANSWER_WITHIN_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** At another moment for each client, so that those of a service that ends do not all come back at once. */
const comeBack = (): string =>
  JSON.stringify({
    type: 'restarting',
    retry_ms: Math.round(SOONEST_MS + Math.random() * (LATEST_MS - SOONEST_MS)),
  });
