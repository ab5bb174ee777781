/** Longer ones, such as images, are passed on in parts. */
export const MAX_TAIL_BYTES = 8_192;

/** A started terminal sequence without its end; characters are handled separately. */
const SEQUENCE = new RegExp(
  ['\\x1b(?:[ -/]*', '\\[[0-?]*[ -/]*', '[PX^_\\]][^\\x07\\x18\\x1a\\x1b\\x9c]*\\x1b?)$'].join('|'),
);
const CHARACTER = /(?:[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2})$/;

/** The end of this output that belongs to what comes next. */
export function partialSequence(output: Buffer): Buffer {
  const tail = output.subarray(-MAX_TAIL_BYTES);
  const text = tail.toString('latin1');
  const at = text.search(SEQUENCE);
  const from = at >= 0 ? at : text.search(CHARACTER);
  return from < 0 ? Buffer.alloc(0) : tail.subarray(from);
}
