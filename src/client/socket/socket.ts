/** The events of a socket; `closed` is the last. */
export type SocketListener = {
  opened?(): void;
  text(message: string): void;
  bytes(data: Uint8Array): void;
  /** `opened`: false when the service refused the upgrade, whose reason browsers hide. */
  closed(code: number, reason: string, opened: boolean): void;
};

export type Socket = {
  send(data: string | Uint8Array<ArrayBuffer>): void;
  unsentBytes(): number;
  /** Stops reading, and reads on; missing where the platform cannot. */
  readonly flow?: { pause(): void; resume(): void };
  /**
   * Closes and stops listening immediately, even when the other side never answers. `final`: the terminal is no longer
   * needed; otherwise the client will reconnect to it.
   */
  drop(final: boolean): void;
};

export type OpenSocket = (url: string, protocols: string[], listener: SocketListener) => Socket;

/** With any code but 1000 the service keeps the terminal; browsers may use those from 3000 on. */
export const COMING_BACK = 4000;

/** The platform's own WebSocket. */
export const platformSocket: OpenSocket = (url, protocols, listener) => {
  const socket = new WebSocket(url, protocols);
  const silence = new AbortController();
  const heard = { signal: silence.signal };
  let opened = false;
  socket.binaryType = 'arraybuffer';
  socket.addEventListener(
    'open',
    () => {
      opened = true;
      listener.opened?.();
    },
    heard,
  );
  socket.addEventListener(
    'message',
    ({ data }: { data: unknown }) => {
      if (data instanceof ArrayBuffer) listener.bytes(new Uint8Array(data));
      else if (typeof data === 'string') listener.text(data);
    },
    heard,
  );
  socket.addEventListener('close', ({ code, reason }) => listener.closed(code, reason, opened), heard);
  return {
    send(data) {
      // why: browsers log an error for it; what matters is sent again on the next connection
      if (socket.readyState < socket.CLOSING) socket.send(data);
    },
    unsentBytes: () => socket.bufferedAmount,
    drop(final) {
      silence.abort();
      if (final) socket.close(1000, 'closed by the client');
      else socket.close(COMING_BACK, 'coming back');
    },
  };
};
