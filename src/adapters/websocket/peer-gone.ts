import type { Socket } from 'node:net';

/** Tells when the peer of an upgrade that waits for its answer has gone. `stop` before the socket is given away. */
export function peerGone(socket: Socket | undefined): { readonly signal: AbortSignal; stop(): void } {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  // Nobody reads the socket yet, so its end would not be seen. Bytes that came early stay for whoever reads it later.
  const look = (): void => {
    if (socket?.readableLength === 0) socket.read();
  };
  socket?.on('readable', look).once('end', leave).once('close', leave);
  if (socket?.destroyed) leave();
  return {
    signal: gone.signal,
    stop: () => void socket?.off('readable', look).off('end', leave).off('close', leave),
  };
}
