import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { CommandOutput } from '../../../app/containers/inside/command-output.ts';

/** Output converted to text at a time; the event loop is free in between. */
const PIECE_BYTES = 16_384;
/**
 * Per stream. Twice the buffered bytes, so that text is never cut here: a line feed or quote takes two bytes, a control
 * character six, an invalid byte three.
 */
const MAX_JSON_BYTES = 2 * 1_048_576;

/** A command's answer, made in pieces as it is read: an `ExecResultBody`. */
export function execAnswer(result: CommandOutput): string | Readable {
  const pieces = jsonOf(result);
  return result.stdout.length + result.stderr.length <= PIECE_BYTES
    ? [...pieces].join('')
    : Readable.from(pieces, { objectMode: false });
}

export function* jsonOf(result: CommandOutput, maxJsonBytes = MAX_JSON_BYTES): Generator<string> {
  yield `{"exit_code":${JSON.stringify(result.exitCode)},"stdout":"`;
  const isOutWhole = yield* textOf(result.stdout, maxJsonBytes);
  yield '","stderr":"';
  const isErrWhole = yield* textOf(result.stderr, maxJsonBytes);
  const truncated = result.truncated || !isOutWhole || !isErrWhole;
  yield `","truncated":${truncated},"duration_ms":${result.durationMs}}`;
}

/** The inside of a JSON string, up to `maxBytes`; returns whether it is complete. */
function* textOf(output: Buffer, maxBytes: number): Generator<string, boolean> {
  const decoder = new StringDecoder('utf8');
  let left = maxBytes;
  for (let at = 0; at < output.length; at += PIECE_BYTES) {
    const bytes = output.subarray(at, at + PIECE_BYTES);
    const isLast = at + PIECE_BYTES >= output.length;
    const text = decoder.write(bytes) + (isLast ? decoder.end() : '');
    const json = JSON.stringify(text).slice(1, -1);
    const size = Buffer.byteLength(json);
    if (size > left) {
      yield beginningOf(text, left);
      return false;
    }
    left -= size;
    if (json !== '') yield json;
  }
  return true;
}

/** As many whole characters as fit. */
function beginningOf(text: string, maxBytes: number): string {
  let json = '';
  let left = maxBytes;
  for (const character of text) {
    const next = JSON.stringify(character).slice(1, -1);
    left -= Buffer.byteLength(next);
    if (left < 0) break;
    json += next;
  }
  return json;
}
