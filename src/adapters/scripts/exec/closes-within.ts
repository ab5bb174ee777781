import { once } from 'node:events';
import type { Duplex } from 'node:stream';

/** Whether the stream is over in time. It must be read by someone. */
export async function closesWithin(stream: Duplex, seconds: number): Promise<boolean> {
  if (stream.closed) return true;
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), seconds * 1000);
  return await once(stream, 'close', { signal: limit.signal })
    .then(
      () => true,
      () => stream.closed,
    )
    .finally(() => clearTimeout(timer));
}
