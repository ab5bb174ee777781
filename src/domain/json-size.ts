/** The UTF-8 length of a text inside a JSON string: a control character takes six bytes, a quote or line feed two. */
export function jsonBytes(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20) bytes += SHORT_ESCAPES.has(code) ? 2 : 6;
    else if (code === 0x22 || code === 0x5c) bytes += 2;
    else if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code < 0xd800 || code > 0xdfff) bytes += 3;
    else if (isPair(code, text.charCodeAt(at + 1))) {
      bytes += 4;
      at += 1;
    } else bytes += 6;
  }
  return bytes;
}

/** \b, \t, \n, \f and \r. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13]);

const isPair = (first: number, second: number): boolean =>
  first < 0xdc00 && second >= 0xdc00 && second <= 0xdfff;
