import { createHash } from 'node:crypto';

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Text as it is pasted, and characters that are in no C library: unassigned, private, newer than it. */
const SAMPLES = [
  'plain words, 123\r\n',
  'grüße',
  'привет',
  '漢字かな',
  '한글',
  '😀👩‍👩‍👧🏳️‍🌈',
  'e\u0301',
  '\u0085\u00a0\u2028',
];

/** So many bytes of UTF-8, with characters of every length from all of Unicode, and no escape sequences. */
export function mixedUtf8(length: number): Buffer {
  const parts: Buffer[] = [];
  let left = length;
  while (left > 0) {
    const part = Buffer.from(Math.random() < 0.98 ? aSample() : aCharacter());
    parts.push(left < part.length ? Buffer.alloc(left, '.') : part);
    left -= Math.min(left, part.length);
  }
  return Buffer.concat(parts);
}

const aSample = (): string => SAMPLES[Math.floor(Math.random() * SAMPLES.length)] ?? '';

function aCharacter(): string {
  const codePoint = 0x80 + Math.floor(Math.random() * (0x110000 - 0x80));
  return 0xd800 <= codePoint && codePoint <= 0xdfff ? '' : String.fromCodePoint(codePoint);
}

/** Pieces of so many bytes each, the last one shorter. */
export const piecesOf = (bytes: Buffer, pieceBytes: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );

/** Types this to have so many bytes of input in a file as they are; `#START` and `#DONE` come out. */
export const intoFile = (file: string, bytes: number): string =>
  `stty raw -echo; printf '#STA''RT'; head -c ${bytes} > ${file}; printf '#DO''NE'; stty sane\r`;
