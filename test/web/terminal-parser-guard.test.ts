import headless from '@xterm/headless';
import t from 'tap';
import { guardParser } from '../../web/src/terminal/screen/parser-guard.ts';

type Step = string | { readonly cols: number; readonly rows: number };
type Case = { readonly cols: number; readonly rows: number; readonly steps: readonly Step[] };

/** A terminal without a window, guarded as the page guards its own. */
function aTerminal(cols: number, rows: number, scrollback: number) {
  const terminal = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true });
  const faults: unknown[] = [];
  guardParser(terminal, (error) => faults.push(error));
  const { active } = terminal.buffer;
  return {
    faults,
    resize: (size: { cols: number; rows: number }) => terminal.resize(size.cols, size.rows),
    /** Resolves when the output is confirmed. */
    write: (output: string) => new Promise<void>((resolve) => terminal.write(output, resolve)),
    lines: () =>
      Array.from({ length: terminal.rows }, (_, row) => active.getLine(row)?.translateToString(true)),
  };
}

t.test('what erases up to the last cell erases the screen, and later output is drawn', async (t) => {
  for (const erase of ['x\x1b[1J', '\x1b[1J', 'x\x1b[?1J', '\x1b[?1J']) {
    const { write, lines, faults } = aTerminal(10, 3, 10_000);
    await write(`gone\x1b[999;999H${erase}`);
    await write('\x1b[2Hlater');
    t.same(lines(), ['', 'later', ''], JSON.stringify(erase));
    t.same(faults, []);
  }
});

t.test('less is erased in front of any other cell', async (t) => {
  const { write, lines } = aTerminal(10, 3, 10_000);
  await write('gone\x1b[3Hstays\x1b[3;2H\x1b[1J');
  t.same(lines(), ['', '', '  ays']);
});

/** Found at random: xterm.js 6.0 throws on the last step of each, where a terminal has no scrollback. */
const THROWS: readonly Case[] = [
  {
    cols: 80,
    rows: 2,
    steps: ['\x1b[5;17Hab\x1b[5A', { cols: 5, rows: 3 }, { cols: 6, rows: 8 }, '漢'.repeat(11)],
  },
  {
    cols: 20,
    rows: 2,
    steps: [`${'漢'.repeat(6)}\x1b[T`, { cols: 3, rows: 5 }, { cols: 14, rows: 10 }, '\x1b[9;11Habcdefg'],
  },
  {
    cols: 2,
    rows: 2,
    steps: ['llo', { cols: 29, rows: 7 }, '\x1bE', { cols: 7, rows: 5 }, { cols: 30, rows: 7 }, '\x1b[19Hx'],
  },
];

t.test('output on which xterm.js throws is confirmed, and later output is drawn', async (t) => {
  for (const { cols, rows, steps } of THROWS) {
    const { write, resize, lines, faults } = aTerminal(cols, rows, 0);
    for (const step of steps) {
      if (typeof step === 'string') await write(step);
      else resize(step);
    }
    // Where the screen itself is broken, the next piece fails as well, and the one behind it does not.
    await write(String(steps.at(-1)));
    await write('\x1b[2J\x1b[Hlater');
    t.equal(lines()[0], 'later', JSON.stringify(steps));
    t.equal(faults.length, 1, 'told once');
  }
});

t.test('another version of xterm.js is noticed when the terminal is made', async (t) => {
  const terminal = new headless.Terminal({ allowProposedApi: true });
  t.throws(() => guardParser(Object.create(terminal, { _core: { value: {} } })));
});
