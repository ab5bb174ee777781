import type { WebSocket } from 'ws';
import { type CloseReason, encodeClose, type Line } from '../../../protocol/agent/index.ts';

/** Time for the peer to answer a close, and to take anything while much waits. */
const ANSWER_WITHIN_MS = 500;
const STALLED_MS = 60_000;

const CODES: { readonly [R in CloseReason]: number } = {
  ended: 1000,
  replaced: 1000,
  protocol: 1002,
  unauthorized: 4001,
  forgotten: 4004,
  stopped: 4009,
  restarting: 4012,
};

/** A socket that carries an agent's messages. */
export type SocketLine = Line & {
  /** Says why, and closes. A peer that does not answer is cut off. */
  close(reason: CloseReason): void;
};

/** `drained`: the socket has room for more. A peer that takes nothing for a minute is cut off. */
export function socketLine(socket: WebSocket, drained: () => void): SocketLine {
  let stalled: NodeJS.Timeout | undefined;
  const sent = (): void => {
    clearTimeout(stalled);
    stalled = socket.bufferedAmount > 0 ? setTimeout(() => socket.terminate(), STALLED_MS) : undefined;
    drained();
  };
  socket.once('close', () => clearTimeout(stalled));
  return {
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send(message) {
      if (socket.readyState !== socket.OPEN) return;
      stalled ??= setTimeout(() => socket.terminate(), STALLED_MS);
      socket.send(message, sent);
    },
    close(reason) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(encodeClose(reason, reason));
      socket.close(CODES[reason], reason);
      const timer = setTimeout(() => socket.terminate(), ANSWER_WITHIN_MS);
      socket.once('close', () => clearTimeout(timer));
    },
  };
}
