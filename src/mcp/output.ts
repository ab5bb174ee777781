/** Bytes of output in one answer: more would fill a model's context. */
export const MAX_OUTPUT_BYTES = 50_000;
/** Of a file or log, that a call skips: all of them are sent by the container first. */
export const MAX_OFFSET_BYTES = 64 * 1_048_576;
const HEAD_BYTES = 5_000;
const TAIL_BYTES = 20_000;

const decoder = new TextDecoder();

/**
 * Keeps the beginning and the end of an output, where errors are, however long it is. Two of them, for both streams of
 * a command, fit into one answer.
 */
export class OutputEnds {
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);
  #leftOutBytes = 0;

  get isEmpty(): boolean {
    return this.#head.length === 0;
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    const taken = bytes.subarray(0, HEAD_BYTES - this.#head.length);
    this.#head = Buffer.concat([this.#head, taken]);
    const tail = Buffer.concat([this.#tail, bytes.subarray(taken.length)]);
    const keptFrom = Math.max(0, tail.length - TAIL_BYTES);
    this.#leftOutBytes += keptFrom;
    this.#tail = tail.subarray(keptFrom);
  }

  text(): string {
    if (this.#leftOutBytes === 0) return decoder.decode(Buffer.concat([this.#head, this.#tail]));
    const note = `[… ${this.#leftOutBytes} bytes left out: send the output to a file and read it with read_file …]`;
    return `${decoder.decode(this.#head)}\n${note}\n${decoder.decode(this.#tail)}`;
  }
}

/** The first part of an output, and where to continue when there is more. */
export function firstPart(output: Uint8Array, offset: number, isWhole: boolean): string {
  const bytes = Buffer.from(output);
  if (isWhole && bytes.length <= MAX_OUTPUT_BYTES) return decoder.decode(bytes);
  const end = startOfCharacter(bytes, Math.min(bytes.length, MAX_OUTPUT_BYTES));
  const next = offset + end;
  return `${decoder.decode(bytes.subarray(0, end))}\n[… cut: continue at offset ${next} …]`;
}

/** The nearest position at or before this one where a character of UTF-8 begins. */
function startOfCharacter(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && at - start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

/** Reads `limit` bytes of a stream after `offset`, and leaves the rest. `isWhole`: nothing follows. */
export async function readPart(
  stream: ReadableStream<Uint8Array>,
  offset: number,
  limit: number,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let skip = offset;
  let length = 0;
  // leaving the loop cancels the stream
  for await (const chunk of stream) {
    const part = chunk.subarray(Math.min(skip, chunk.length));
    skip -= chunk.length - part.length;
    // A part of a chunk would keep the whole chunk, even an empty part.
    if (part.length > 0) parts.push(Uint8Array.from(part));
    length += part.length;
    if (length > limit) return { bytes: Buffer.concat(parts).subarray(0, limit), isWhole: false };
  }
  return { bytes: Buffer.concat(parts), isWhole: true };
}

/** Whether the text of a file would say nothing. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.subarray(0, 8_192).includes(0);
