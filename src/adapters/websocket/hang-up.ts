import type { WebSocket } from 'ws';
import { CLOSE, type CloseReason } from '../../domain/terminal.ts';

const ANSWER_WITHIN_MS = 500;

/** Closes a socket. Who has lost the right to it and does not answer is cut off. */
export function hangUp(socket: WebSocket, { code, reason }: CloseReason): void {
  socket.close(code, reason);
  if (code !== CLOSE.unauthorized.code || socket.readyState === socket.CLOSED) return;
  const timer = setTimeout(() => socket.terminate(), ANSWER_WITHIN_MS);
  socket.once('close', () => clearTimeout(timer));
}
