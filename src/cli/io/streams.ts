import { once } from 'node:events';
import type { Io } from './io.ts';

/** Writes, and waits while the reader is slow. */
export async function writeTo(stream: NodeJS.WriteStream, data: string | Uint8Array): Promise<void> {
  if (!stream.write(data)) await once(stream, 'drain');
}

/** All of standard input as text. */
export async function inputText({ in: input }: Io): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of input) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}
