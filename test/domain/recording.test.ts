import t from 'tap';
import {
  beginCast,
  type CastEvent,
  type CastStep,
  nextCast,
  roomFor,
  wholePart,
} from '../../src/domain/recording.ts';

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

t.test('what has no room is not written, not even half of it', async (t) => {
  const { cast } = begin();
  const limited = { ...cast, limitBytes: cast.sizeBytes + 14 };
  const fits = nextCast(limited, { type: 'output', atMs: 0, text: 'abc' });
  t.equal(fits.line, '[0,"o","abc"]\n');
  t.notOk(fits.full);
  const full = nextCast(fits.cast, { type: 'output', atMs: 0, text: 'd' });
  t.match(full, { line: '', full: true });
  t.equal(full.cast.sizeBytes, limited.limitBytes);
});

t.test('a new recording gets what the others leave', async (t) => {
  t.equal(roomFor(1, 0), 1_048_576);
  t.equal(roomFor(1, 1_000_000), 48_576);
  t.equal(roomFor(1, 1_048_000), null, 'too little for anything');
  t.equal(roomFor(1, 2_000_000), null);
  t.equal(roomFor(0, 0), null);
});

t.test('the whole part of a file ends with its last line that can be read', async (t) => {
  const header = begin().line;
  const cases: readonly [text: string, whole: string, durationMs: number][] = [
    [header, header, 0],
    [`${header}[1.5,"o","a"]\n`, `${header}[1.5,"o","a"]\n`, 1500],
    [`${header}[1.5,"o","a"]\n[2,"o","b"]`, `${header}[1.5,"o","a"]\n`, 1500],
    [`${header}[1.5,"o","a"]\n\0\0\0\n`, `${header}[1.5,"o","a"]\n`, 1500],
    [`rest of a long line"]\n[3,"r","80x24"]\n[4`, `rest of a long line"]\n[3,"r","80x24"]\n`, 3000],
  ];
  for (const [text, whole, durationMs] of cases) {
    t.same(wholePart(Buffer.from(text)), { sizeBytes: Buffer.byteLength(whole), durationMs }, text);
  }
  for (const text of ['', 'no end', '\n', 'rest"]\n', '7\n', '["o"]\n'])
    t.equal(wholePart(Buffer.from(text)), null, text);
});
