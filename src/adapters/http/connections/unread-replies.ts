import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Http } from '../fastify-types.ts';

const SWEEP_MS = 1_000;
/** A minute. */
const STALL_SWEEPS = 60;
/** A client must read this much in that time. */
const PACE_BYTES = 16_384;
/** For all buffered answers. Above it, those stalled longest are closed. */
const TOTAL_BYTES = 64 * 1_048_576;
/** The least time stalled before that. */
const HURRY_SWEEPS = 2;

type Progress = { delivered: number; sweeps: number };

/**
 * Closes connections that do not read their answer, be it a string, a file or a stream. Counts from the head on, and
 * only while data waits: requests in progress and quiet logs have no limit. It counts sweeps, so no client is blamed
 * while the event loop stands still. WebSockets have limits of their own.
 */
export function limitUnreadAnswers(
  http: Http,
  { sweepMs = SWEEP_MS, stallSweeps = STALL_SWEEPS, totalBytes = TOTAL_BYTES } = {},
): void {
  const connections = new Map<Socket, Progress>();
  http.server.on('connection', (socket: Socket) => {
    connections.set(socket, { delivered: 0, sweeps: 0 });
    socket.once('close', () => connections.delete(socket));
  });
  http.server.prependListener('upgrade', ({ socket }: IncomingMessage) => connections.delete(socket));
  const timer = setInterval(() => {
    let total = 0;
    const still: (readonly [sweeps: number, socket: Socket, unread: number])[] = [];
    for (const [socket, progress] of connections) {
      const unread = unreadBytes(socket);
      total += unread;
      noteProgress(progress, socket, unread);
      if (progress.sweeps >= stallSweeps) socket.destroy();
      else if (progress.sweeps >= HURRY_SWEEPS) still.push([progress.sweeps, socket, unread]);
    }
    if (total <= totalBytes) return;
    for (const [, socket, unread] of still.sort(([a], [b]) => b - a)) {
      socket.destroy();
      total -= unread;
      if (total <= totalBytes) return;
    }
  }, sweepMs);
  timer.unref();
  http.server.once('close', () => clearInterval(timer));
}

function noteProgress(progress: Progress, socket: Socket, unread: number): void {
  const delivered = deliveredBytes(socket, unread);
  if (unread > 0 && delivered - progress.delivered < PACE_BYTES) {
    progress.sweeps += 1;
    return;
  }
  progress.delivered = delivered;
  progress.sweeps = 0;
}

// Node.js counts what the kernel has not taken of a large write, and uses that for its own timeout.
type Counting = { readonly _handle?: { readonly bytesWritten?: number; readonly writeQueueSize?: number } };

/** Bytes of the answer buffered in this process. */
const unreadBytes = (socket: Socket): number =>
  Math.max(socket.writableLength, (socket as Counting)._handle?.writeQueueSize ?? 0);

/** Bytes taken by the kernel. */
function deliveredBytes(socket: Socket, unread: number): number {
  const { bytesWritten, writeQueueSize } = (socket as Counting)._handle ?? {};
  return bytesWritten === undefined || writeQueueSize === undefined
    ? socket.bytesWritten - unread
    : bytesWritten - writeQueueSize;
}
