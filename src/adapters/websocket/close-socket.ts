import type { WebSocket } from 'ws';
import { CLOSE } from '../../domain/terminals/terminal.ts';
import { CLOSE_CODES, type SocketCloseReason } from '../../protocol/close-codes.ts';
import { encodeFrame } from '../../protocol/terminal-frames.ts';

const ANSWER_WITHIN_MS = 500;
const SOONEST_MS = 500;
const LATEST_MS = 5_000;

/** Whether the peer has lost its right to the socket. */
const IS_RIGHT_LOST = {
  unauthorized: true,
  'collaboration ended': true,
  ended: false,
  replaced: false,
  'container deleted': false,
  'container stopped': false,
  'container restarted': false,
  'service restarting': false,
  'input gap': false,
  'too slow': false,
  'too much input': false,
  'failed to open terminal': false,
  'failed to read events': false,
  'try again later': false,
  detached: false,
  'too many processes': false,
  'container unresponsive': false,
} satisfies Readonly<Record<SocketCloseReason, boolean>>;

/** Closes a socket. An unresponsive peer without a right to it is cut off. */
export function hangUp(socket: WebSocket, reason: SocketCloseReason): void {
  if (reason === CLOSE.serviceRestarting) socket.send(comeBack());
  socket.close(CLOSE_CODES[reason], reason);
  if (!IS_RIGHT_LOST[reason] || socket.readyState === socket.CLOSED) return;
  const timer = setTimeout(() => socket.terminate(), ANSWER_WITHIN_MS);
  socket.once('close', () => clearTimeout(timer));
}

/** A different delay per client, so that not all return at once. */
const comeBack = (): string =>
  encodeFrame({
    type: 'restarting',
    retry_ms: Math.round(SOONEST_MS + Math.random() * (LATEST_MS - SOONEST_MS)),
  });
