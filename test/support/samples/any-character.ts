import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };
const MOST = 0x10ffff - SURROGATES.count;

/** Any code point. The unit 'binary' of fast-check is the same; it first makes a table of them all, for a second. */
export const anyCharacter = fc
  .nat({ max: MOST })
  .map((n) => String.fromCodePoint(n < SURROGATES.from ? n : n + SURROGATES.count));
