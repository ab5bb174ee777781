import headless from '@xterm/headless';
import t from 'tap';
import { limitSequences } from '../../src/adapters/xterm/costly-sequences.ts';
import { xtermScreens } from '../../src/adapters/xterm/headless-terminals.ts';
import { RenderBudget } from '../../src/adapters/xterm/render-budget.ts';
import { aBrowserTerminal } from '../support/terminal/recordings.ts';

const SIZE = { cols: 20, rows: 6 };

/** More repetitions than any screen has rows or columns. */
const ENDLESS = ['L', 'M', 'S', 'T', 'I', 'Z', '@', 'P', 'X', ' @', ' A', "'}", "'~"];

t.test('as many repetitions as change the screen are drawn', async (t) => {
  for (const final of ENDLESS) {
    const output = `\x1b[2;5rone\r\ntwo\r\nthree\r\nfour\x1b[3;4H\x1b[44m\x1b[900${final}x`;
    const all = aBrowserTerminal(SIZE);
    const late = aBrowserTerminal(SIZE);
    const screen = xtermScreens.open(SIZE);
    await all.write(output);
    await screen.write(Buffer.from(output));
    await late.write(screen.serialize());
    t.same(late.looks(), all.looks(), final);
    t.ok(await screen.write(Buffer.from(`\x1b[2147483647${final}`)), 'nor does it take long');
    screen.end();
  }
});

t.test('a character repeated beyond a screen leaves the same rows', async (t) => {
  for (const before of ['ab', 'a漢', '\x1b[4habc\r', '\x1b[?7la']) {
    for (const times of [3, 119, 120, 121, 333, 1_234]) {
      const output = `${before}\x1b[${times}b|`;
      const all = aBrowserTerminal(SIZE);
      const late = aBrowserTerminal(SIZE);
      const screen = xtermScreens.open(SIZE);
      await all.write(output);
      await screen.write(Buffer.from(output));
      await late.write(screen.serialize());
      const [want, got] = [all, late].map(({ looks, terminal }) => ({
        cursor: looks().cursor,
        rows: looks().lines.slice(-terminal.rows),
      }));
      t.same(got, want, `${JSON.stringify(before)} ${times} times`);
      screen.end();
    }
  }
  const screen = xtermScreens.open(SIZE);
  await screen.write(Buffer.from(`a${'\u0301'.repeat(4_000)}`));
  const before = screen.serialize();
  await screen.write(Buffer.from('\x1b[9b'));
  t.ok(screen.serialize().equals(before), 'a cell with very much text is not repeated');
  screen.end();
});

t.test('a program with too expensive output is no longer drawn', async (t) => {
  const large = xtermScreens.open({ cols: 1_000, rows: 1_000 });
  t.notOk(await large.write(Buffer.from('a')), 'a screen that is too large');
  large.end();
  const costly = xtermScreens.open({ cols: 300, rows: 300 });
  const clear = Buffer.from('\x1b[2J'.repeat(500));
  let slices = 0;
  while (slices < 10_000 && (await costly.write(clear))) slices += 1;
  t.ok(slices < 10_000, `given up after ${slices} pieces`);
  t.notOk(await costly.write(Buffer.from('a')), 'nor does it draw cheap output then');
  costly.end();
});

/** Each costs far more than its length suggests; the first value is what must come before it. */
const COSTLY = [
  ['', '\x1b[999S'],
  ['', '\x1b[999T'],
  ['\x1b[H', '\x1b[999L'],
  ['\x1b[H', '\x1b[999M'],
  ['', '\x1b[2J'],
  ['', "\x1b[9'}"],
  ['', '\x1b[9 @'],
  ['', '\x1b#8'],
  ['', '\x1bc'],
  ['', '\x1b[?1049h\x1b[?1049l'],
  ['a', '\x1b[999b'],
  ['\x1b[4ha', '\x1b[99b'],
] as const;

t.test('other work goes on while costly output is drawn', async (t) => {
  for (const [before, sequence] of COSTLY) {
    const screen = xtermScreens.open({ cols: 200, rows: 50 });
    await screen.write(Buffer.from(`${'line\r\n'.repeat(100)}${before}`));
    let turns = 0;
    let isDrawing = true;
    const other = (): void => {
      turns += 1;
      if (isDrawing) setImmediate(other);
    };
    // The timer of the drawing ends first.
    const drawn = screen.write(Buffer.from(sequence.repeat(Math.floor(8_192 / sequence.length))));
    setTimeout(other);
    await drawn;
    isDrawing = false;
    t.ok(turns > 5, `${JSON.stringify(sequence)}: ${turns} turns`);
    screen.end();
  }
});

t.test('links in the output make later lines no costlier', async (t) => {
  const terminal = new headless.Terminal({ ...SIZE, allowProposedApi: true });
  limitSequences(terminal, new RenderBudget(terminal));
  const link = (at: number): string => `\x1b]8;;https://a.example/${at}\x07x\x1b]8;;\x07\r`;
  await new Promise<void>((resolve) =>
    terminal.write(Array.from({ length: 9 }, (_, at) => link(at)).join(''), resolve),
  );
  t.match(terminal.buffer.active.getLine(0)?.translateToString(), /^x/);
  t.equal(terminal.markers.length, 0);
  terminal.dispose();
});

t.test('a very long title is cut', async (t) => {
  const screen = xtermScreens.open(SIZE);
  await screen.write(Buffer.from(`\x1b]2;${'title '.repeat(10_000)}\x07`));
  t.ok(screen.serialize().length < 4_096);
  t.ok(screen.serialize().includes('title'));
  screen.end();
});

t.test('of very colourful scrollback a snapshot has the newest lines that fit', async (t) => {
  const size = { cols: 80, rows: 24 };
  const screen = xtermScreens.open(size);
  const cell = (at: number): string => `\x1b[38;2;${at % 250};0;9;48;5;${at % 200}m#`;
  const row = (at: number): string => Array.from({ length: 79 }, (_, column) => cell(at + column)).join('');
  for (let at = 0; at < 2_000; at += 1) await screen.write(Buffer.from(`${row(at)}\x1b[m\r\n`));
  await screen.write(Buffer.from('newest'));
  const snapshot = screen.serialize();
  screen.end();
  t.ok(snapshot.length <= 1_048_576, `${snapshot.length} bytes`);
  const late = aBrowserTerminal(size, 5_000);
  await late.write(snapshot);
  const { length } = late.terminal.buffer.active;
  t.ok(length > 200 && length < 2_000, `${length} lines`);
  t.match(late.looks().lines.join(''), /n\|.*\ne\|/);
});

t.test('of multi-byte scrollback a snapshot has the newest lines that fit', async (t) => {
  for (const [line, fewest] of [
    ['─'.repeat(79), 4_000],
    ['ก'.repeat(79), 4_000],
    ['e\u0301\u0302\u0303'.repeat(79), 1_700],
    // The bytes of a gap are not counted.
    ['é\x1b[C'.repeat(39), 2_000],
  ] as const) {
    const size = { cols: 80, rows: 24 };
    const screen = xtermScreens.open(size);
    const lines = Buffer.from(`${line}\r\n`.repeat(100));
    for (let at = 0; at < 50; at += 1) await screen.write(lines);
    await screen.write(Buffer.from('newest'));
    const snapshot = screen.serialize();
    screen.end();
    t.ok(snapshot.length <= 1_048_576, `${snapshot.length} bytes of ${line}`);
    const late = aBrowserTerminal(size, 5_000);
    await late.write(snapshot);
    const { length } = late.terminal.buffer.active;
    t.ok(length > fewest && length < 5_000, `${length} lines of ${line}`);
  }
});

t.test('a screen that ends while it draws answers', async (t) => {
  const screen = xtermScreens.open({ cols: 200, rows: 50 });
  const drawn = screen.write(Buffer.from('\x1b[2J'.repeat(2_000)));
  await new Promise((resolve) => setTimeout(resolve));
  screen.end();
  t.type(await drawn, 'boolean');
});
