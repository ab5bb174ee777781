import type { WebSocket } from 'ws';
import { fullRate, restMs, takeTokens } from '../../domain/terminals/socket-input-rate.ts';

/** Why a socket is not read for now. */
type Reason = 'program' | 'rate';

/** Leaves a socket unread as long as there is any reason to. */
export class SocketRest {
  readonly #socket: Pick<WebSocket, 'pause' | 'resume'>;
  readonly #reasons = new Set<Reason>();

  constructor(socket: Pick<WebSocket, 'pause' | 'resume'>) {
    this.#socket = socket;
  }

  /** False when that is a reason already. */
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

/** Bytes that a frame counts for beside what is in it: empty ones are work as well. */
const FRAME_BYTES = 64;

/** Reads a socket no faster than input may come. Call what it returns for every frame, with its bytes. */
export function inputLimit(rest: SocketRest, nowMs = () => performance.now()): (bytes: number) => void {
  let rate = fullRate(nowMs());
  return (bytes) => {
    rate = takeTokens(rate, bytes + FRAME_BYTES, nowMs());
    const ms = restMs(rate);
    if (ms > 0 && rest.begin('rate')) setTimeout(() => rest.end('rate'), ms).unref();
  };
}
