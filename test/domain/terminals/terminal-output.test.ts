import fc from 'fast-check';
import t from 'tap';
import {
  beginCast,
  type CastEvent,
  type CastStep,
  nextCast,
  remainingQuota,
  wholePart,
} from '../../../src/domain/terminals/recording.ts';
import { trackModes } from '../../../src/domain/terminals/terminal-mode-tracker.ts';
import { partialSequence } from '../../../src/domain/terminals/terminal-partial-sequence.ts';
import {
  continuesInput,
  resumeFrom,
  snapshotFrom,
  takeInput,
  withoutQuestions,
} from '../../../src/domain/terminals/terminal-resume.ts';
import { incompleteBytes, utf8At } from '../../../src/domain/utf8.ts';
import { anyCharacter } from '../../support/samples/samples.ts';

t.test('a client gets the missing output, or a redraw when it is gone', async (t) => {
  const buffered = { start: 100, end: 900 };
  for (const after of [100, 500, 900]) t.same(resumeFrom(buffered, after), { offset: after, redraw: false });
  for (const after of [0, 99, 901, 2 ** 53])
    t.same(resumeFrom(buffered, after), { offset: 100, redraw: true });
  t.same(resumeFrom(buffered, null), { offset: 100, redraw: true }, 'nothing seen, much to see');
  t.same(resumeFrom({ start: 0, end: 0 }, null), { offset: 0, redraw: false }, 'a new one');
  t.same(
    [snapshotFrom(9, 4), snapshotFrom(9, 9), snapshotFrom(9, 10)],
    [5, 0, null],
    'a snapshot in its place',
  );
});

t.test('resent input is accepted once, wherever the client begins', async (t) => {
  t.same(takeInput(10, 10, 5), { known: 0, received: 15, position: 15 });
  t.same(takeInput(10, 4, 5), { known: 5, received: 10, position: 9 });
  t.same(takeInput(10, 8, 5), { known: 2, received: 13, position: 13 });
  t.ok(continuesInput(10, 10));
  t.ok(continuesInput(10, 0));
  t.notOk(continuesInput(10, 11), 'a gap');
  const typed = Buffer.from(Array.from({ length: 400 }, (_, at) => at % 256));
  const restarts = fc.array(
    fc.tuple(fc.nat(400), fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 8 })),
  );
  fc.assert(
    fc.property(restarts, (lines) => {
      let taken = Buffer.alloc(0);
      for (const [from, frames] of lines) {
        let position = Math.min(from, taken.length);
        for (const bytes of frames) {
          const frame = typed.subarray(position, position + bytes);
          const next = takeInput(taken.length, position, frame.length);
          taken = Buffer.concat([taken, frame.subarray(next.known)]);
          position = next.position;
          if (taken.length !== next.received) return false;
        }
      }
      return taken.equals(typed.subarray(0, taken.length));
    }),
  );
});

t.test('queries in old output are blanked without moving anything', async (t) => {
  const ESC = '\x1b';
  for (const question of [
    '\x05',
    `${ESC}[c`,
    `${ESC}[>0c`,
    `${ESC}[6n`,
    `${ESC}[?6n`,
    `${ESC}[?2026$p`,
    `${ESC}[>q`,
    `${ESC}[?u`,
    `${ESC}[18t`,
    `${ESC}]11;?\x07`,
    `${ESC}]4;1;?${ESC}\\`,
    `${ESC}]52;c;?\x07`,
    `${ESC}P+q544e${ESC}\\`,
    `${ESC}P$qm${ESC}\\`,
  ]) {
    const shown = withoutQuestions(Buffer.from(`a${question}é`));
    t.equal(shown.toString(), `a${'\0'.repeat(question.length)}é`, JSON.stringify(question));
  }
  for (const kept of [
    `${ESC}[31mred${ESC}[0m`,
    `${ESC}[2;5H${ESC}[2J`,
    `${ESC}]0;a title?\x07`,
    `${ESC}[2 q`,
    `${ESC}[u`,
    `${ESC}[?25h`,
    `${ESC}[8;24;80t`,
    'plain [c n text',
  ]) {
    t.equal(withoutQuestions(Buffer.from(kept)).toString(), kept, JSON.stringify(kept));
  }
  const any = Buffer.from(Array.from({ length: 512 }, (_, at) => at % 256));
  t.equal(withoutQuestions(any).length, any.length, 'also of bytes that are no text');
});

t.test('every query is blanked, not only the first', async (t) => {
  t.equal(String(withoutQuestions(Buffer.from('\x05a\x05'))), '\0a\0');
});

t.test('undrawn output keeps its private modes, in the order of their last change', async (t) => {
  const cases: readonly (readonly [what: string, output: readonly string[], modes: readonly string[]])[] = [
    ['text', ['plain \x1b[31mred'], []],
    ['modes', ['a\x1b[?25lb\x1b[?1006;1000hc'], ['25l', '1006;1000h']],
    ['a mode that is switched twice', ['\x1b[?25l\x1b[?1h\x1b[?25l'], ['1h', '25l']],
    ['what is no mode', ['\x1b[?u\x1b[?2026$p\x1b[?1h'], ['1h']],
    ['one that is cut in two', ['a\x1b[?10', '49hb'], ['1049h']],
    ['one that is cut in three', ['a\x1b', '[?10', '49h'], ['1049h']],
    ['one behind much text', ['x'.repeat(100), `${'x'.repeat(100)}\x1b[?1h${'x'.repeat(100)}`], ['1h']],
  ];
  for (const [what, output, modes] of cases) {
    const gap = trackModes();
    t.ok(gap.isEmpty());
    for (const piece of output) gap.add(Buffer.from(piece));
    t.notOk(gap.isEmpty());
    const expected = `\x18\x1b[m\x1b(B${modes.map((mode) => `\x1b[?${mode}`).join('')}`;
    t.equal(gap.take().toString(), expected, what);
    t.ok(gap.isEmpty());
    t.equal(gap.take().toString(), '\x18\x1b[m\x1b(B', `${what}: it is forgotten`);
  }
  const many = trackModes();
  for (let mode = 1; mode <= 257; mode += 1) many.add(Buffer.from(`\x1b[?${mode}h`));
  const [, ...left] = many.take().toString().split('\x1b[?');
  t.same([left.length, left[0], left.at(-1)], [256, '2h', '257h'], 'the oldest of too many goes');
});

t.test('an unfinished sequence is recognised', async (t) => {
  const cases: readonly [output: string, tail: string][] = [
    ['', ''],
    ['plain', ''],
    ['a\x1b[31m', ''],
    ['a\x1b[31mb', ''],
    ['a\x1b', '\x1b'],
    ['a\x1b[', '\x1b['],
    ['a\x1b[?20', '\x1b[?20'],
    ['a\x1b(', '\x1b('],
    ['a\x1b(B', ''],
    ['a\x1b]2;title', '\x1b]2;title'],
    ['a\x1b]2;title\x1b', '\x1b]2;title\x1b'],
    ['a\x1b]2;title\x07', ''],
    ['a\x1b]2;title\x1b\\', ''],
    ['a\x1bP+q54', '\x1bP+q54'],
  ];
  for (const [output, tail] of cases) {
    t.equal(partialSequence(Buffer.from(output, 'latin1')).toString('latin1'), tail, JSON.stringify(output));
  }
  const euro = Buffer.from('é€😀');
  const begun = (bytes: number): number => partialSequence(euro.subarray(0, bytes)).length;
  t.same([1, 2, 3, 4, 5, 6, 7, 8, 9].map(begun), [1, 0, 1, 2, 0, 1, 2, 3, 0]);
});

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

t.test('a character is recognised at any byte', async (t) => {
  const cases: readonly [string, string | number][] = [
    ['00', 1],
    ['7f', 1],
    ['c2 80', 2],
    ['df bf', 2],
    ['e0 a0 80', 3],
    ['ed 9f bf', 3],
    ['ee 80 80', 3],
    ['ef bf bf', 3],
    ['f0 90 80 80', 4],
    ['f4 8f bf bf', 4],
    ['c3', 'incomplete'],
    ['e2', 'incomplete'],
    ['e2 82', 'incomplete'],
    ['f0 9f 98', 'incomplete'],
    ['c3 41', 'invalid'],
    ['e2 82 41', 'invalid'],
    ['80', 'invalid'],
    ['c0 80', 'invalid'],
    ['c1', 'invalid'],
    ['e0 9f', 'invalid'],
    ['ed a0 80', 'invalid'],
    ['f0 8f', 'invalid'],
    ['f4 90', 'invalid'],
    ['f5', 'invalid'],
    ['ff', 'invalid'],
  ];
  for (const [hex, expected] of cases) {
    const found = utf8At(bytes(hex), 0);
    t.equal(found.kind === 'character' ? found.length : found.kind, expected, hex);
  }
});

t.test('partial characters at the end are measured', async (t) => {
  const cases: readonly [string, number][] = [
    ['', 0],
    ['41', 0],
    ['c3', 1],
    ['41 c3', 1],
    ['c3 a9', 0],
    ['e2 82', 2],
    ['e2 82 ac', 0],
    ['f0 9f 98', 3],
    ['f0 9f 98 80', 0],
    ['82 ac', 0],
    ['e2 c3', 1],
    ['ff', 0],
    ['ed a0', 0],
  ];
  for (const [hex, expected] of cases) t.equal(incompleteBytes(bytes(hex)), expected, hex);
});

t.test('every character is recognised, and every cut in it', async () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }), (text) => {
      const complete = Buffer.from(text);
      const found = utf8At(complete, 0);
      if (found.kind !== 'character') return false;
      const cuts = Array.from({ length: complete.length - 1 }, (_, at) => at + 1);
      return (
        found.codePoint === text.codePointAt(0) &&
        found.length === complete.length &&
        cuts.every((cut) => incompleteBytes(complete.subarray(0, cut)) === cut)
      );
    }),
  );
});

const START = new Date('2026-03-04T05:06:07.890Z');
const begin = (limitBytes = 1_000_000): CastStep => beginCast({ cols: 80, rows: 24 }, START, limitBytes);

t.test('the first line is the header of asciicast v2', async (t) => {
  const { line, cast } = begin();
  t.same(JSON.parse(line), {
    version: 2,
    width: 80,
    height: 24,
    timestamp: 1_772_600_767,
    env: { TERM: 'xterm-256color' },
  });
  t.ok(line.endsWith('}\n'));
  t.equal(cast.sizeBytes, Buffer.byteLength(line));
});

t.test('every event is one line, and the recording is as long as the last one', async (t) => {
  const output = (atMs: number, text: string): CastEvent => ({ type: 'output', atMs, text });
  const size = (atMs: number, cols: number, rows: number): CastEvent => ({ type: 'size', atMs, cols, rows });
  const cases: readonly [what: string, events: readonly CastEvent[], lines: readonly unknown[]][] = [
    ['output', [output(1500, 'ls\r\n')], [[1.5, 'o', 'ls\r\n']]],
    ['escapes, quotes and lines', [output(1, '\x1b[31m"\\\n\u2028')], [[0.001, 'o', '\x1b[31m"\\\n\u2028']]],
    ['other scripts', [output(0, 'héllo 🚢 日本')], [[0, 'o', 'héllo 🚢 日本']]],
    ['a size', [size(20, 120, 40)], [[0.02, 'r', '120x40']]],
    ['the size that it has', [size(20, 80, 24)], []],
    [
      'and again',
      [size(1, 90, 24), size(2, 90, 24), size(3, 80, 24)],
      [
        [0.001, 'r', '90x24'],
        [0.003, 'r', '80x24'],
      ],
    ],
    ['no output', [output(5, '')], []],
    [
      'time that goes back stands still',
      [output(30, 'a'), output(20, 'b')],
      [
        [0.03, 'o', 'a'],
        [0.03, 'o', 'b'],
      ],
    ],
  ];
  for (const [what, events, lines] of cases) {
    let { cast } = begin();
    let text = '';
    const before = cast.sizeBytes;
    for (const event of events) {
      const step = nextCast(cast, event);
      t.notOk(step.full, what);
      ({ cast } = step);
      text += step.line;
    }
    t.same(
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
      lines,
      what,
    );
    t.equal(cast.sizeBytes - before, Buffer.byteLength(text), `${what}: bytes`);
    const last = lines.at(-1) as [number] | undefined;
    t.equal(cast.durationMs, (last?.[0] ?? 0) * 1000, `${what}: duration`);
  }
});

t.test('a line beyond the limit is not written, not even in part', async (t) => {
  const { cast } = begin();
  const limited = { ...cast, limitBytes: cast.sizeBytes + 14 };
  const fits = nextCast(limited, { type: 'output', atMs: 0, text: 'abc' });
  t.equal(fits.line, '[0,"o","abc"]\n');
  t.notOk(fits.full);
  const full = nextCast(fits.cast, { type: 'output', atMs: 0, text: 'd' });
  t.match(full, { line: '', full: true });
  t.equal(full.cast.sizeBytes, limited.limitBytes);
});

t.test('a new recording gets the quota that the others leave', async (t) => {
  t.equal(remainingQuota(1, 0), 1_048_576);
  t.equal(remainingQuota(1, 1_000_000), 48_576);
  t.equal(remainingQuota(1, 1_048_000), null, 'too little for anything');
  t.equal(remainingQuota(1, 2_000_000), null);
  t.equal(remainingQuota(0, 0), null);
});

t.test("a file's valid part ends with its last readable line", async (t) => {
  const header = begin().line;
  const cases: readonly [text: string, complete: string, durationMs: number][] = [
    [header, header, 0],
    [`${header}[1.5,"o","a"]\n`, `${header}[1.5,"o","a"]\n`, 1500],
    [`${header}[1.5,"o","a"]\n[2,"o","b"]`, `${header}[1.5,"o","a"]\n`, 1500],
    [`${header}[1.5,"o","a"]\n\0\0\0\n`, `${header}[1.5,"o","a"]\n`, 1500],
    [`rest of a long line"]\n[3,"r","80x24"]\n[4`, `rest of a long line"]\n[3,"r","80x24"]\n`, 3000],
  ];
  for (const [text, complete, durationMs] of cases) {
    t.same(wholePart(Buffer.from(text)), { sizeBytes: Buffer.byteLength(complete), durationMs }, text);
  }
  for (const text of ['', 'no end', '\n', 'rest"]\n', '7\n', '["o"]\n'])
    t.equal(wholePart(Buffer.from(text)), null, text);
});
