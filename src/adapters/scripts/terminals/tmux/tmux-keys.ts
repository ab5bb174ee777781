import { partialSequence } from '../../../../domain/terminals/terminal-partial-sequence.ts';
import { incompleteBytes, utf8At } from '../../../../domain/utf8.ts';
import { isKnownToTmux } from './tmux-characters.ts';

export const ESCAPE = 0x1b;
/** No UTF-8 character begins with it. */
const PREFIX = 0xff;
/** Longer than any key that tmux waits for; only a terminal's answers are as long. */
const MAX_HELD_BYTES = 4_096;

/**
 * What tmux itself must read: keys that it translates, mouse and focus reports, and answers to its queries. Not paste
 * marks, since newer versions look up no keys between them. Not the old mouse report, `ESC [ M` and three bytes: tmux
 * requests the newer one.
 */
const FOR_TMUX = new RegExp(
  [
    '\\x1b(?:\\[(?!M|20[01]~)[0-9;:]*[ -/]*[@-~]',
    '\\[<[0-9;]*[Mm]',
    '\\[\\?[0-9;]*[cn]',
    '\\[>[0-9;]*c',
    'O[0-9;]*[A-Za-z]',
    '[\\]P][ -~]*(?:\\x07|\\x1b\\\\))',
  ].join('|'),
  'y',
);
const UNFINISHED_SS3 = new RegExp(['\\x1bO', '[0-9;]*$'].join(''));

/**
 * User keys (`user-keys`): the prefix and a byte stand for that byte. tmux waits for the second byte because the prefix
 * alone is a key too, which does nothing and must come last.
 */
export const LITERAL_KEYS = [ESCAPE, ...Array.from({ length: 128 }, (_, at) => 128 + at)]
  .flatMap((byte) => [
    `set -s user-keys[${byte}] "\\377\\${byte.toString(8).padStart(3, '0')}"`,
    `bind-key -n User${byte} send-keys -H ${byte.toString(16)}`,
  ])
  .concat('set -s user-keys[256] "\\377"')
  .join('\n');

/** The end of this input that may continue in the next: a partial character or sequence. */
export function incompleteInput(input: Buffer): Buffer {
  const sequence = partialSequence(input);
  if (sequence.length > MAX_HELD_BYTES) return input.subarray(input.length);
  if (sequence[0] === ESCAPE) return sequence;
  const ss3 = UNFINISHED_SS3.exec(input.subarray(-MAX_HELD_BYTES).toString('latin1'));
  return input.subarray(input.length - (ss3?.[0].length ?? incompleteBytes(input)));
}

/** Input in a form of which tmux passes on every byte, wherever reads end: up to twice as long. */
export function asTmuxKeys(input: Buffer): Buffer {
  if (!input.some((byte) => byte === ESCAPE || byte >= 0x80)) return input;
  const text = input.toString('latin1');
  const keys = Buffer.allocUnsafe(2 * input.length);
  let end = 0;
  for (let at = 0; at < input.length; ) {
    const length = keyLength(input, text, at);
    if (length > 0) {
      end += input.copy(keys, end, at, at + length);
      at += length;
    } else {
      keys[end] = PREFIX;
      keys[end + 1] = input[at] ?? 0;
      end += 2;
      at += 1;
    }
  }
  return keys.subarray(0, end);
}

/** The length that tmux passes on unchanged; 0 for a byte that it would not. */
function keyLength(input: Buffer, text: string, at: number): number {
  const byte = input[at] ?? 0;
  if (byte === ESCAPE) {
    FOR_TMUX.lastIndex = at;
    return FOR_TMUX.exec(text)?.[0].length ?? 0;
  }
  if (byte < 0x80) return 1;
  const found = utf8At(input, at);
  return found.kind === 'character' && isKnownToTmux(found.codePoint) ? found.length : 0;
}
