import type { WebSocket } from 'ws';
import { fullRate, restMs, takeTokens } from '../../domain/terminals/socket-input-rate.ts';

/** Why a socket is not being read. */
type Reason = 'program' | 'rate';

/** Pauses a socket while there is any reason. */
export class SocketPause {
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>;
  readonly #reasons = new Set<Reason>();

  constructor(socket: Pick<WebSocket, 'pause' | 'resume'>) {
    this.#socket = socket;
  }

  /** False when the reason already holds. */
  begin(reason: Reason): boolean {
    if (this.#reasons.has(reason)) return false;
    if (this.#reasons.size === 0) this.#socket.pause();
    this.#reasons.add(reason);
    return true;
  }

  end(reason: Reason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#socket.resume();
  }
}

/** What a frame counts besides its content: empty ones are work too. */
const FRAME_BYTES = 64;

/** Limits how fast a socket is read. Call the result for every frame, with its bytes. */
export function inputLimit(pause: SocketPause, nowMs = () => performance.now()): (bytes: number) => void {
  let rate = fullRate(nowMs());
  return (bytes) => {
    rate = takeTokens(rate, bytes + FRAME_BYTES, nowMs());
    const ms = restMs(rate);
    if (ms > 0 && pause.begin('rate')) setTimeout(() => pause.end('rate'), ms).unref();
  };
}
