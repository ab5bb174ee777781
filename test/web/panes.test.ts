import headless from '@xterm/headless';
import t from 'tap';
import {
  type Direction,
  geometryOf,
  mayHalve,
  neighbourOf,
} from '../../web/src/terminal/panes/pane-geometry.ts';
import { answerClaims, areTaken } from '../../web/src/terminal/panes/pane-ownership.ts';
import {
  type Axis,
  closePane,
  type Layout,
  paneId,
  panesOf,
  readPanes,
  resizeSplit,
  splitPane,
} from '../../web/src/terminal/panes/pane-tree.ts';
import { guardParser } from '../../web/src/terminal/screen/parser-guard.ts';

const split = (axis: Axis, first: Layout, second: Layout, share = 0.5): Layout => ({
  axis,
  share,
  first,
  second,
});
const row = (first: Layout, second: Layout, share?: number) => split('row', first, second, share);
const column = (first: Layout, second: Layout, share?: number) => split('column', first, second, share);

/** main is left; on the right a is above b beside c. */
const FOUR = row('main', column('a', row('b', 'c')));
const AREA = { width: 1201, height: 801 };

t.test('a split gives the new pane the right or the lower half of the old one', async (t) => {
  const cases: [Layout, string, Axis, Layout][] = [
    ['main', 'main', 'row', row('main', 'new')],
    ['main', 'main', 'column', column('main', 'new')],
    [row('main', 'a', 0.3), 'a', 'column', row('main', column('a', 'new'), 0.3)],
    [row('main', 'a'), 'main', 'row', row(row('main', 'new'), 'a')],
    [row('main', 'a'), 'nobody', 'row', row('main', 'a')],
  ];
  for (const [before, pane, axis, after] of cases) {
    t.same(splitPane(before, pane, axis, 'new'), after, `${JSON.stringify(before)} ${pane} ${axis}`);
  }
  t.same(panesOf(splitPane(FOUR, 'a', 'column', 'new')), ['main', 'a', 'new', 'b', 'c']);
});

t.test("a closing pane's neighbour takes its space, and the nearest one the focus", async (t) => {
  const cases: [Layout, string, { layout: Layout; heir: string } | null][] = [
    ['main', 'main', null],
    [row('main', 'a'), 'nobody', null],
    [row('main', 'a'), 'a', { layout: 'main', heir: 'main' }],
    [row('main', 'a'), 'main', { layout: 'a', heir: 'a' }],
    [FOUR, 'a', { layout: row('main', row('b', 'c')), heir: 'b' }],
    [FOUR, 'c', { layout: row('main', column('a', 'b')), heir: 'b' }],
    [row(row('main', 'a'), 'b', 0.7), 'b', { layout: row('main', 'a'), heir: 'a' }],
    [row('b', row('main', 'a')), 'b', { layout: row('main', 'a'), heir: 'main' }],
    [column('b', row('main', 'a')), 'b', { layout: row('main', 'a'), heir: 'main' }],
    [row(column('main', 'a'), 'b', 0.7), 'a', { layout: row('main', 'b', 0.7), heir: 'main' }],
  ];
  for (const [before, pane, after] of cases) {
    t.same(closePane(before, pane), after, `${JSON.stringify(before)} ${pane}`);
  }
});

t.test('only the share of the split at a path changes', async (t) => {
  t.same(resizeSplit(FOUR, '', 0.2), row('main', column('a', row('b', 'c')), 0.2));
  t.same(resizeSplit(FOUR, '1', 0.2), row('main', column('a', row('b', 'c'), 0.2)));
  t.same(resizeSplit(FOUR, '11', 0.2), row('main', column('a', row('b', 'c', 0.2))));
  t.same(resizeSplit(FOUR, '', -3), row('main', column('a', row('b', 'c')), 0));
  for (const path of ['0', '10', '111']) t.same(resizeSplit(FOUR, path, 0.2), FOUR, path);
});

t.test('panes cover the area without a gap, in whole pixels, with dividers of one', async (t) => {
  const { panes, dividers, stacked } = geometryOf(FOUR, AREA);
  t.equal(stacked, false);
  t.same(panes, [
    { pane: 'main', box: { left: 0, top: 0, width: 600, height: 801 } },
    { pane: 'a', box: { left: 601, top: 0, width: 600, height: 400 } },
    { pane: 'b', box: { left: 601, top: 401, width: 300, height: 400 } },
    { pane: 'c', box: { left: 902, top: 401, width: 299, height: 400 } },
  ]);
  t.match(
    dividers.map(({ path, axis, box, from, room }) => ({ path, axis, box, from, room })),
    [
      { path: '', axis: 'row', box: { left: 600, top: 0, width: 1, height: 801 }, from: 0, room: 1200 },
      { path: '1', axis: 'column', box: { left: 601, top: 400, width: 600, height: 1 }, from: 0, room: 800 },
      { path: '11', axis: 'row', box: { left: 901, top: 401, width: 1, height: 400 }, from: 601, room: 599 },
    ],
  );
});

t.test('no pane is smaller than useful while there is space', async (t) => {
  const widths = (layout: Layout, width: number): readonly number[] =>
    geometryOf(layout, { width, height: 500 }).panes.map(({ box }) => box.width);
  t.same(widths(row('main', 'a', 0), 1001), [160, 840]);
  t.same(widths(row('main', 'a', 1), 1001), [840, 160]);
  t.same(widths(row('main', row('a', 'b'), 1), 1001), [679, 160, 160], 'both of the other part');
  t.same(widths(row('main', column('a', 'b'), 1), 1001), [840, 160, 160]);
  const [divider] = geometryOf(row('main', row('a', 'b'), 0), { width: 1001, height: 500 }).dividers;
  t.match(divider, { share: 0.16, least: 0.16, most: 0.679 });
  const five = row(row('main', 'a'), row('b', row('c', 'd')));
  for (const width of widths(five, 660)) t.ok(width > 0, `too small alike: ${width}`);
  t.equal(mayHalve(geometryOf(row('main', 'a'), { width: 643, height: 168 }), 'a', 'row'), true);
  t.equal(mayHalve(geometryOf(row('main', 'a'), { width: 641, height: 168 }), 'a', 'row'), false);
  t.equal(mayHalve(geometryOf('main', { width: 700, height: 168 }), 'main', 'column'), false);
  t.equal(mayHalve(geometryOf('main', AREA), 'nobody', 'row'), false);
});

t.test('in little space each pane has all of it', async (t) => {
  const phone = { width: 390, height: 600 };
  const geometry = geometryOf(FOUR, phone);
  t.same(geometry.dividers, []);
  for (const { box } of geometry.panes) t.same(box, { left: 0, top: 0, ...phone });
  t.equal(mayHalve(geometry, 'a', 'row'), true);
  t.equal(neighbourOf(geometry, 'a', 'right'), 'b');
  t.equal(neighbourOf(geometry, 'a', 'up'), 'main');
  t.equal(neighbourOf(geometry, 'c', 'down'), null);
});

t.test('the neighbour in a direction has the longest common side', async (t) => {
  const tall = row(column('main', 'a', 0.3), column('b', 'c', 0.6));
  const cases: [Layout, string, Direction, string | null][] = [
    [FOUR, 'main', 'right', 'a'],
    [FOUR, 'main', 'left', null],
    [FOUR, 'main', 'up', null],
    [FOUR, 'a', 'left', 'main'],
    [FOUR, 'a', 'down', 'b'],
    [FOUR, 'c', 'left', 'b'],
    [FOUR, 'b', 'left', 'main'],
    [FOUR, 'c', 'up', 'a'],
    [FOUR, 'c', 'right', null],
    [FOUR, 'nobody', 'left', null],
    [tall, 'main', 'right', 'b'],
    [tall, 'a', 'right', 'c'],
    [tall, 'b', 'left', 'main'],
    [tall, 'c', 'left', 'a'],
  ];
  for (const [layout, from, direction, to] of cases) {
    t.equal(neighbourOf(geometryOf(layout, AREA), from, direction), to, `${from} ${direction}`);
  }
});

t.test("a tab's stored layout is accepted only in this page's form", async (t) => {
  const [one, two] = [paneId('0123456789abcdef'), paneId('ffffffffffffffff')];
  t.equal(one, 'pane-0123456789ab');
  const good = { layout: row('main', column(one, two, 0.25)), active: two };
  t.same(readPanes(JSON.stringify(good)), good);
  t.match(readPanes(JSON.stringify({ ...good, active: 'gone' })), { active: 'main' });
  const many = Array.from({ length: 6 }, (_, n) => paneId(String(n).repeat(12)));
  const bad: unknown[] = [
    null,
    'main',
    {},
    { layout: one },
    { layout: row(one, two) },
    { layout: row('main', 'main') },
    { layout: row('main', 'pane-../../x') },
    { layout: row('main', one, 1.5) },
    { layout: { ...(row('main', one) as object), axis: 'depth' } },
    { layout: { ...(row('main', one) as object), second: undefined } },
    { layout: many.reduce<Layout>((layout, pane) => row(layout, pane), 'main') },
  ];
  for (const each of bad) t.equal(readPanes(JSON.stringify(each)), null, JSON.stringify(each));
  for (const text of [null, '', '{', '12']) t.equal(readPanes(text), null, String(text));
});

t.test('an open page reports its panes until it closes', async (t) => {
  t.equal(await areTaken(['pane-a'], 100), false, 'nobody is there');
  const end = answerClaims((pane) => pane === 'pane-a');
  t.teardown(end);
  t.equal(await areTaken(['pane-a', 'pane-b'], 30_000), true);
  t.equal(await areTaken(['pane-b'], 100), false);
  end();
  t.equal(await areTaken(['pane-a'], 100), false, 'it has gone');
});

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

t.test('erasing up to the last cell erases the screen, and later output is drawn', async (t) => {
  for (const erase of ['x\x1b[1J', '\x1b[1J', 'x\x1b[?1J', '\x1b[?1J']) {
    const { write, lines, faults } = aTerminal(10, 3, 10_000);
    await write(`gone\x1b[999;999H${erase}`);
    await write('\x1b[2Hlater');
    t.same(lines(), ['', 'later', ''], JSON.stringify(erase));
    t.same(faults, []);
  }
});

t.test('erasing before any other cell erases less', async (t) => {
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
    t.equal(faults.length, 1, 'reported once');
  }
});

t.test('another version of xterm.js is noticed when the terminal is made', async (t) => {
  const terminal = new headless.Terminal({ allowProposedApi: true });
  t.throws(() => guardParser(Object.create(terminal, { _core: { value: {} } })));
});
