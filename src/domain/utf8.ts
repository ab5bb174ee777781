/** Lead bytes and their next bytes: RFC 3629 allows neither overlong forms nor surrogates. */
const SEQUENCES: readonly (readonly [
  lead: number,
  last: number,
  length: number,
  from: number,
  to: number,
])[] = [
  [0xc2, 0xdf, 2, 0x80, 0xbf],
  [0xe0, 0xe0, 3, 0xa0, 0xbf],
  [0xe1, 0xec, 3, 0x80, 0xbf],
  [0xed, 0xed, 3, 0x80, 0x9f],
  [0xee, 0xef, 3, 0x80, 0xbf],
  [0xf0, 0xf0, 4, 0x90, 0xbf],
  [0xf1, 0xf3, 4, 0x80, 0xbf],
  [0xf4, 0xf4, 4, 0x80, 0x8f],
];

/** A complete UTF-8 character, a partial one at the end, or bytes that are not UTF-8. */
export type Utf8At =
  | { readonly kind: 'character'; readonly length: number; readonly codePoint: number }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'invalid' };

/** What is at `at`, which is less than the length of `bytes`. */
export function utf8At(bytes: Uint8Array, at: number): Utf8At {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return { kind: 'character', length: 1, codePoint: lead };
  const found = SEQUENCES.find(([first, last]) => first <= lead && lead <= last);
  if (found === undefined) return { kind: 'invalid' };
  const [, , length, from, to] = found;
  let codePoint = lead & (0x7f >> length);
  for (let next = 1; next < length; next += 1) {
    const byte = bytes[at + next];
    if (byte === undefined) return { kind: 'incomplete' };
    const fits = next === 1 ? from <= byte && byte <= to : 0x80 <= byte && byte <= 0xbf;
    if (!fits) return { kind: 'invalid' };
    codePoint = (codePoint << 6) | (byte & 0x3f);
  }
  return { kind: 'character', length, codePoint };
}

/** The number of final bytes that begin a character: 0 to 3. */
export function incompleteBytes(bytes: Uint8Array): number {
  for (let length = Math.min(3, bytes.length); length > 0; length -= 1) {
    if (utf8At(bytes, bytes.length - length).kind === 'incomplete') return length;
  }
  return 0;
}
