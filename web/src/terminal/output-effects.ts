/** Separates what output draws from its other effects. Pure. */

const ESC = 0x1b;
/** Longer than any meaningful sequence: the end of a longer one is not awaited. */
const MAX_SEQUENCE_BYTES = 2 * 1024 * 1024;
const TEXT_CHUNK = 8_192;

const SEQUENCES = [
  '\\x1b\\][^\\x07\\x1b]*(?:\\x07|\\x1b\\\\)',
  '\\x1b[P_^X][^\\x1b]*\\x1b\\\\',
  '\\x1b\\[[0-?]*[ -/]*[@-~]',
  '\\x1b[ -/]+[0-~]',
  '\\x1b[0-OQ-WYZ\\\\`-~]',
  '\\x07',
].join('|');

/**
 * Titles, the clipboard and colours (OSC, but for hyperlinks), modes (but for synchronized output), the pen, the shape of the
 * cursor, the keypad, character sets, the bell, and questions.
 */
const EFFECTS = new RegExp(
  [
    '^\\x1b\\](?!8;)',
    '^\\x1b\\[\\?(?!2026)[\\d;]*[hl]$',
    '^\\x1b\\[[<-?]?[\\d;:]*m$',
    '^\\x1b\\[\\d* q$',
    '^\\x1b\\[[>=?]?\\d*[cnq]$',
    '^\\x1b[=>]$',
    '^\\x1b[()][ -~]$',
    '^\\x07$',
  ].join('|'),
);

function textOf(bytes: Uint8Array): string {
  const chunks: string[] = [];
  for (let at = 0; at < bytes.length; at += TEXT_CHUNK)
    chunks.push(String.fromCharCode(...bytes.subarray(at, at + TEXT_CHUNK)));
  return chunks.join('');
}

const bytesOf = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** The effects of output that is not drawn, so that the terminal continues as if it had been. */
export function effectsOf(output: Uint8Array): Uint8Array {
  const sequences = textOf(output).match(new RegExp(SEQUENCES, 'g')) ?? [];
  const kept = sequences.filter((sequence) => EFFECTS.test(sequence)).join('');
  return bytesOf(kept);
}

/** Hyperlinks and all other sequences but OSC, the bell, questions, and the shape of the cursor. */
const DRAWS = new RegExp(['^\\x1b\\]8;', '^\\x1b\\[.*[^cnq]$', '^\\x1b[^\\][]'].join('|'), 's');

/** Output without what must not happen twice, since `effectsOf` may have passed it on: titles, clipboard, bell, questions. */
export function drawingOf(output: Uint8Array): Uint8Array {
  const repeatable = (sequence: string): string => (DRAWS.test(sequence) ? sequence : '');
  return bytesOf(textOf(output).replace(new RegExp(SEQUENCES, 'g'), repeatable));
}

/** As tmux erases the screen when it ends, before it says `[exited]`. */
const ERASE_AT_END = new RegExp(
  `\\x1b\\[H\\x1b\\[2?J(?:\\x1b\\[3J)?(?=(?:${SEQUENCES})*\\[[a-z][^\\x1b\\]]*\\]\\r\\n$)`,
);
const TO_ROW_BELOW = '\x1b[9999H\r\n';

/** Keeps the last screen when tmux ends, with tmux's own message below it. */
export const withLastScreen = (output: Uint8Array): Uint8Array =>
  bytesOf(textOf(output).replace(ERASE_AT_END, TO_ROW_BELOW));

const ONE_SEQUENCE = new RegExp(`^(?:${SEQUENCES})`);

/** Splits off an incomplete sequence at the end. */
export function atSequenceEnd(output: Uint8Array): readonly [complete: Uint8Array, open: Uint8Array] {
  const complete = [output, new Uint8Array()] as const;
  let at = output.lastIndexOf(ESC);
  // The last one may end an older one (ST).
  if (at > 0 && output[at + 1] === 0x5c) at = output.lastIndexOf(ESC, at - 1);
  if (at < 0 || output.length - at > MAX_SEQUENCE_BYTES) return complete;
  return ONE_SEQUENCE.test(textOf(output.subarray(at)))
    ? complete
    : [output.subarray(0, at), output.subarray(at)];
}
