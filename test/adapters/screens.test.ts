import type { Terminal } from '@xterm/headless';
import fc from 'fast-check';
import t from 'tap';
import { xtermScreens } from '../../src/adapters/xterm/headless-terminals.ts';
import { inputHandlerOf } from '../../src/adapters/xterm/input-handler.ts';
import { moduleAt, runModule } from '../support/child.ts';
import { aBrowserTerminal } from '../support/terminal/recordings.ts';

const SIZE = { cols: 20, rows: 6 };

const below = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });
const text = fc.constantFrom(
  'a',
  'Z ',
  'hello ',
  'the end',
  'é',
  '漢字',
  '😀',
  '👩‍👩‍👧',
  '│',
  'long '.repeat(6),
);
const colour = fc.constantFrom(
  '0',
  '1',
  '3',
  '4',
  '7',
  '31',
  '42',
  '38;5;200',
  '48;5;17',
  '38;2;1;2;3',
  '48;2;9;8;7',
);
const mode = fc.constantFrom('1', '25', '66', '1000', '1002', '1003', '1004', '1006', '2004');
const piece = fc.oneof(
  { weight: 6, arbitrary: text },
  { weight: 4, arbitrary: fc.constantFrom('\r\n', '\n', '\r', '\b', '\t') },
  { weight: 3, arbitrary: colour.map((pen) => `\x1b[${pen}m`) },
  { weight: 3, arbitrary: fc.tuple(below(6), below(20)).map(([row, column]) => `\x1b[${row};${column}H`) },
  { weight: 2, arbitrary: fc.constantFrom('\x1b[J', '\x1b[1J', '\x1b[2J', '\x1b[K', '\x1b[1K', '\x1b[2K') },
  {
    weight: 2,
    // Between the halves of a wide character xterm.js inserts in a way that leaves one half alone, as no other output
    // does.
    arbitrary: fc.constantFrom('\x1b[L', '\x1b[2M', '\x1b[3P', '\r\x1b[2@', '\x1b[S', '\x1bM', '\x1b[4X'),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(mode, fc.constantFrom('h', 'l')).map(([which, to]) => `\x1b[?${which}${to}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('\x1b[?1049h', '\x1b[?1049l') },
  { weight: 1, arbitrary: fc.tuple(below(3), below(3)).map(([top, more]) => `\x1b[${top};${top + more}r`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('\x1b[6n', '\x1b[c', '\x1b[>c', '\x1b]11;?\x07', '\x1b[?2004$p', '\x1b[r'),
  },
);
const output = fc.array(piece, { maxLength: 60 }).map((pieces) => Buffer.from(pieces.join('')));

/** Anywhere, also inside a character or sequence. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const cuts = [
    0,
    ...at.map((share) => Math.floor(share * bytes.length)).toSorted((a, b) => a - b),
    bytes.length,
  ];
  return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 6 });

t.test('a client with a snapshot sees the same as one that saw everything', async (t) => {
  const property = fc.asyncProperty(output, shares, async (bytes, at) => {
    const all = aBrowserTerminal(SIZE);
    const screen = xtermScreens.open(SIZE);
    for (const one of cut(bytes, at)) {
      await all.write(one);
      await screen.write(one);
    }
    const late = aBrowserTerminal(SIZE);
    await late.write(screen.serialize());
    screen.end();
    const [want, got] = [all.looks(), late.looks()];
    if (JSON.stringify(want) !== JSON.stringify(got)) {
      for (const part of Object.keys(want) as (keyof typeof want)[]) t.same(got[part], want[part], part);
      throw new Error(JSON.stringify(bytes.toString()));
    }
    if (late.answers.length > 0) throw new Error('a snapshot must ask the terminal nothing');
  });
  await fc.assert(property, { numRuns: 150 });
});

const textOf = ({ buffer }: Terminal): (string | undefined)[] =>
  Array.from({ length: buffer.active.length }, (_, at) => buffer.active.getLine(at)?.translateToString(true));

/** Rare in the outputs above: each was once drawn in the wrong row or column. */
const MOVED = [
  '\x1b[5;12Hlong long long long long long \x1b[1K',
  '\x1b[6;12Hlong long long \x1b[1K\r\nx',
  `${'line\r\n'.repeat(9)}${'x'.repeat(20)}yy\x1b[1K\r\nnext\r\n`,
  '漢字ab\x1b[4D\b\x1b[2@',
  '漢字ab\x1b[4G\x1b[3@',
];

t.test('a snapshot has each row and column in its place', async (t) => {
  for (const output of MOVED) {
    const all = aBrowserTerminal(SIZE);
    const late = aBrowserTerminal(SIZE);
    const screen = xtermScreens.open(SIZE);
    await screen.write(Buffer.from(output));
    await all.write(output);
    await late.write(screen.serialize());
    t.same(textOf(late.terminal), textOf(all.terminal), JSON.stringify(output));
    screen.end();
  }
});

/** Each erases up to the screen's last cell, where xterm.js throws. */
const ERASES_ALL = ['\x1b[999;999Hx\x1b[1J', '\x1b[999;999H\x1b[1J', '\x1b[999;999Hx\x1b[?1J'];

t.test('erasing up to the last cell erases the screen', async (t) => {
  for (const erase of ERASES_ALL) {
    const screen = xtermScreens.open(SIZE);
    t.ok(await screen.write(Buffer.from(`gone${erase}\x1b[2Hstays`)), JSON.stringify(erase));
    const late = aBrowserTerminal(SIZE);
    await late.write(screen.serialize());
    const shown = late.looks().lines.map((line) => line.replaceAll(/\|.*\n?/g, '').trim());
    t.same(shown, ['', 'stays', '', '', '', '']);
    screen.end();
  }
});

t.test('an xterm.js error during drawing ends only that screen', async (t) => {
  const screen = xtermScreens.open(SIZE);
  const piece = new Proxy(Buffer.from('text'), {
    get(target, key) {
      if (key === '0') throw new Error('not to be read');
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const bytes = Object.assign(Buffer.from('text'), { subarray: () => piece });
  t.equal(await screen.write(bytes), false);
  t.equal(await screen.write(Buffer.from('later')), false, 'there is no screen any more');
  screen.end();
});

t.test('another version of xterm.js is noticed when a screen opens', async (t) => {
  const { terminal } = aBrowserTerminal(SIZE);
  t.ok(inputHandlerOf(terminal));
  t.throws(() => inputHandlerOf(Object.create(terminal, { _core: { value: { _inputHandler: {} } } })));
});

t.test("characters have their widths whatever is in the process's buffer pool", async (t) => {
  const { line } = runModule(
    t,
    `let zeros;
     do {
       zeros = Buffer.from('\\0'.repeat(1_000));
     } while (zeros.byteOffset !== 0);
     const { xtermScreens } = await import(${moduleAt('src/adapters/xterm/headless-terminals.ts')});
     const screen = xtermScreens.open({ cols: 20, rows: 2 });
     await screen.write(Buffer.from('漢👩‍💻|\\x1b[1;5Hy'));
     console.log(JSON.stringify(screen.serialize().toString()));`,
  );
  t.match(JSON.parse(await line()), /^漢👩‍💻y/, 'two cells each');
});
