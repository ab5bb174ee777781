import { once } from 'node:events';

/** Writes, and waits while the reader is slow. */
export async function writeTo(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  if (!stream.write(data)) await once(stream, 'drain');
}
