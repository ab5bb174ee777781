import type { OpenedOutput } from '../../../app/containers/processes/process-output.ts';
import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import type { OutputPiece } from '../../../ports/containers/processes/container-processes.ts';

/** Output converted to text at a time; the event loop is free in between. */
const PIECE_BYTES = 32_768;
const MAX_PARTIAL_BYTES = 3;

/**
 * A line of JSON per piece of output, with its offset: `data` where it is UTF-8, else `base64`. A character is not
 * divided between lines. The last line tells how the process is, and where to continue.
 */
export async function* outputLines(
  { start, pieces, state }: OpenedOutput,
  lastLine: (process: ContainerProcess, after: string) => object,
): AsyncGenerator<string> {
  const streams = { stdout: characters('stdout', start.stdout), stderr: characters('stderr', start.stderr) };
  for await (const piece of pieces) {
    for (let at = 0; at < piece.data.length; at += PIECE_BYTES) {
      const data = piece.data.subarray(at, at + PIECE_BYTES);
      yield* streams[piece.stream].add({ ...piece, offset: piece.offset + at, data });
    }
  }
  yield* streams.stdout.rest();
  yield* streams.stderr.rest();
  yield line(lastLine(await state(), `${streams.stdout.end()},${streams.stderr.end()}`));
}

/** Holds the beginning of a character until its rest comes. */
function characters(stream: OutputPiece['stream'], start: number) {
  let partial = Buffer.alloc(0);
  let end = start;
  const lineOf = (data: Buffer, offset: number): string => line({ stream, offset, ...contentOf(data) });
  function* rest(): Generator<string> {
    if (partial.length > 0) yield lineOf(partial, end - partial.length);
    partial = Buffer.alloc(0);
  }
  return {
    *add({ offset, data }: OutputPiece): Generator<string> {
      // Output in between was removed.
      if (offset !== end) yield* rest();
      const all = Buffer.concat([partial, data]);
      const from = offset - partial.length;
      end = offset + data.length;
      const whole = all.subarray(0, all.length - partialLength(all));
      partial = Buffer.from(all.subarray(whole.length));
      if (whole.length > 0) yield lineOf(whole, from);
    },
    rest,
    end: (): number => end,
  };
}

/** The length of an unfinished UTF-8 character at the end. */
function partialLength(data: Buffer): number {
  for (let back = 1; back <= Math.min(MAX_PARTIAL_BYTES, data.length); back += 1) {
    const byte = data[data.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < lengthOf(byte) ? back : 0;
  }
  return 0;
}

const lengthOf = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2);

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function contentOf(data: Buffer): { readonly data: string } | { readonly base64: string } {
  try {
    return { data: UTF8.decode(data) };
  } catch {
    return { base64: data.toString('base64') };
  }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;
