import fc from 'fast-check';
import t from 'tap';
import { PlayableOutput } from '../../src/cli/io/playable-output.ts';
import { aBrowserTerminal } from '../support/terminal/recordings.ts';

const shownOf = (...pieces: readonly string[]): string => {
  const output = new PlayableOutput();
  return pieces.map((piece) => output.add(piece)).join('');
};

/** Each asks the terminal, or changes more than its screen. */
const HOSTILE = [
  '\x05',
  '\x1b[c',
  '\x1b[>c',
  '\x1b[=c',
  '\x1b[6n',
  '\x1b[?6n',
  '\x1b[\n6n',
  '\x9b6n',
  '\x1bZ',
  '\x1b[x',
  '\x1b[21t',
  '\x1b[?2004$p',
  '\x1b[?u',
  '\x1b[>1u',
  '\x1b[>q',
  '\x1b[1;1;1;1;1;1*y',
  '\x1b[?1;1;0S',
  '\x1b[5i',
  '\x1b[1;1;1;1;1T',
  '\x1b[2h',
  '\x1b[?1000;1006h',
  '\x1b[?2004h',
  '\x1b[?1r',
  '\x1b]52;c;cm0gLXJm\x07',
  '\x1b]52;c;?\x1b\\',
  '\x9d52;c;cm0gLXJm\x07',
  '\x1b]11;?\x07',
  '\x1b]4;1;?\x07',
  '\x1b]777;notify;a;b\x07',
  '\x1bP$qm\x1b\\',
  '\x1bP+q544e\x1b\\',
  '\x1b_Gi=31,s=1,v=1,a=q;AAAA\x1b\\',
  '\x1b%@',
] as const;

/** Each draws, and stays as it is. */
const DRAWING = [
  'text ü 漢字\r\n\t\b\x07',
  '\x1b[1;38;2;1;2;3m',
  '\x1b[4:3m',
  '\x1b[3;9H',
  '\x1b[2J',
  '\x1b[?1049h',
  '\x1b[?25l',
  '\x1b[2;5r',
  '\x1b[4h',
  '\x1b[3S',
  '\x1b[2 q',
  '\x1b[!p',
  '\x1b7\x1b8\x1bM\x1b(0\x1b#8\x1bc',
  '\x1b]2;title\x07',
  '\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\',
] as const;

t.test('a recording shows what draws, and asks the terminal nothing', (t) => {
  for (const sequence of HOSTILE)
    t.equal(shownOf(`a${sequence}b`).replace('\n', ''), 'ab', JSON.stringify(sequence));
  for (const sequence of DRAWING)
    t.equal(shownOf(`a${sequence}b`), `a${sequence}b`, JSON.stringify(sequence));
  t.equal(shownOf('\x1b[?25;1000;1049h'), '\x1b[?25;1049h', 'of several modes those that draw');
  t.end();
});

t.test('events may be cut anywhere', async () => {
  const piece = fc.constantFrom(...HOSTILE, ...DRAWING);
  const output = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));
  const property = fc.property(output, fc.array(fc.nat(200), { maxLength: 5 }), (text, cuts) => {
    const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length];
    const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
    return shownOf(...pieces) === shownOf(text);
  });
  fc.assert(property, { numRuns: 500 });
});

t.test('a terminal answers nothing of a recording, whatever is in it', async () => {
  const junk = fc.string({
    unit: fc.constantFrom(
      '\x1b',
      '[',
      ']',
      'P',
      '?',
      '>',
      ';',
      '6',
      '1',
      'n',
      'c',
      'p',
      '$',
      '\\',
      '\n',
      'a',
    ),
  });
  const output = fc.array(fc.oneof(junk, fc.constantFrom(...HOSTILE, ...DRAWING)), { maxLength: 12 });
  const property = fc.asyncProperty(output, async (pieces) => {
    const screen = aBrowserTerminal({ cols: 20, rows: 6 });
    await screen.write(shownOf(...pieces));
    screen.terminal.dispose();
    return screen.answers.length === 0;
  });
  await fc.assert(property, { numRuns: 150 });
});

t.test('a sequence that never ends shows nothing and keeps little', (t) => {
  for (const start of ['\x1b]2;', '\x1b]52;', '\x1bP', '\x1b[']) {
    const output = new PlayableOutput();
    for (let at = 0; at < 100; at += 1)
      t.equal(output.add(at === 0 ? start : '1'.repeat(100)).length < 6_000, true);
    t.equal(output.add('\x07\x1b[mend').endsWith('\x1b[mend'), true, JSON.stringify(start));
  }
  t.end();
});
