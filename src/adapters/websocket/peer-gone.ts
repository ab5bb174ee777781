import type { Socket } from 'node:net';

/** Reports when the peer of a waiting upgrade has gone. Call `stop` before passing the socket on. */
export function peerGone(socket: Socket | undefined): { readonly signal: AbortSignal; stop(): void } {
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  // The socket is not read yet, so its end would go unnoticed. Early bytes stay for its later reader.
  const noticeEnd = (): void => {
    if (socket?.readableLength === 0) socket.read();
  };
  socket?.on('readable', noticeEnd).once('end', leave).once('close', leave);
  if (socket?.destroyed) leave();
  return {
    signal: gone.signal,
    stop: () => void socket?.off('readable', noticeEnd).off('end', leave).off('close', leave),
  };
}
