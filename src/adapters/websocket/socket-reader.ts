import type { WebSocket } from 'ws';

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
