import fc from 'fast-check';
import t from 'tap';
import { xtermScreens } from '../../../src/adapters/xterm/headless-terminals.ts';
import { recorder } from '../../../src/app/recordings/recorder.ts';
import { outputBuffer } from '../../../src/app/terminals/output/output-buffer.ts';
import {
  type Pace,
  ScreenHistory,
  snapshotOfBuffer,
} from '../../../src/app/terminals/output/screen-snapshot.ts';
import type { CutReason } from '../../../src/domain/terminals/recording.ts';
import { waitFor } from '../../support/patience.ts';
import { aBrowserTerminal } from '../../support/terminal/recordings.ts';

const SIZE = { cols: 40, rows: 8 };

/** A buffer of this size with its screen, and a terminal that receives all output. */
function aTerminal(keepBytes: number, pace?: Pace, screens = xtermScreens) {
  const log = outputBuffer(keepBytes, (bytes, at) => history.forgets(bytes, at));
  const history = new ScreenHistory(log, screens, SIZE, pace);
  const all = aBrowserTerminal(SIZE, 50);
  return {
    log,
    history,
    all,
    async say(output: string | Buffer): Promise<void> {
      const bytes = Buffer.from(output);
      log.append(bytes);
      history.grown();
      await all.write(bytes);
    },
    /** A late client with the snapshot and the output after it. */
    async late() {
      const snapshot = await history.snapshot();
      if (snapshot === null) throw new Error('there is no snapshot');
      const client = aBrowserTerminal(SIZE, 50);
      await client.write(snapshot.bytes);
      for (let at = snapshot.offset; at < log.end(); ) {
        const piece = log.read(at, 65_536);
        await client.write(piece);
        at += piece.length;
      }
      return client;
    },
  };
}

/** Twenty lines in one piece, since a terminal takes time per piece. */
const linesFrom = (first: number, draw: (line: number) => string): string =>
  Array.from({ length: 20 }, (_, at) => draw(first + at)).join('');

t.test('output continues after a snapshot, cut anywhere', async () => {
  const words = fc.constantFrom(
    'ls\r\n',
    '漢字😀',
    '\x1b[1;33m',
    '\x1b[3;9H',
    '\x1b[K',
    '\x1b[?1049h',
    '\x1b[?2004h',
    'é',
  );
  const output = fc.array(words, { maxLength: 40 }).map((pieces) => Buffer.from(pieces.join('')));
  const property = fc.asyncProperty(
    output,
    fc.double({ min: 0, max: 1, noNaN: true }),
    async (bytes, share) => {
      const { history, all, log, say } = aTerminal(1_000_000);
      const cut = Math.floor(share * bytes.length);
      await say(bytes.subarray(0, cut));
      const snapshot = await history.snapshot();
      await say(bytes.subarray(cut));
      const client = aBrowserTerminal(SIZE, 50);
      await client.write(snapshot?.bytes ?? '');
      await client.write(log.read(snapshot?.offset ?? 0, bytes.length));
      history.end();
      return same(client, all);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

t.test('a snapshot shows dropped output, including modes', async (t) => {
  const { say, late, all, history, log } = aTerminal(30_000);
  await say('\x1b[?2004h\x1b[?1049h\x1b[?1006h\x1b[?1000h\x1b[2;3Htop of the screen');
  await history.snapshot();
  for (let line = 0; line < 4_000; line += 20) {
    await say(linesFrom(line, (at) => `\x1b[5;1H\x1b[3${at % 8}mline ${at}\x1b[K`));
  }
  t.ok(log.start() > 0);
  const client = await late();
  t.equal(client.terminal.modes.bracketedPasteMode, true);
  t.equal(client.terminal.buffer.active.type, 'alternate');
  t.match(client.looks().lines.join(''), /l\|[\s\S]*9\|/);
  t.match(client.terminal.modes, all.terminal.modes);
  history.end();
});

/** Screens that count the bytes drawn on them. */
function countedScreens() {
  let bytes = 0;
  const open = (size: typeof SIZE) => {
    const screen = xtermScreens.open(size);
    return {
      ...screen,
      async write(output: Uint8Array) {
        const isDrawn = await screen.write(output);
        bytes += output.length;
        return isDrawn;
      },
    };
  };
  return { screens: { open }, drawn: () => bytes };
}

t.test('slow output is drawn before it is dropped', async (t) => {
  const pace: Pace = { behindBytes: 8_192, closeBytes: 4_096, calmMs: 2, calmBytes: 1_000_000 };
  const { screens, drawn } = countedScreens();
  const { say, late, all, history, log } = aTerminal(100_000, pace, screens);
  await say('\x1b[?1049h\x1b[2;3Htop of the screen');
  for (let block = 0; block < 40; block += 1) {
    for (let line = 0; line < 200; line += 20) {
      await say(linesFrom(line, (at) => `\x1b[5;${1 + (at % 9)}H\x1b[3${at % 8}mline ${at}\x1b[K`));
    }
    // The program is slow: the backlog is drawn in between.
    await waitFor(() => log.end() - drawn() < pace.behindBytes);
  }
  t.ok(log.start() > 0);
  const client = await late();
  t.equal(drawn(), log.end(), 'each byte is drawn once');
  t.same(client.looks().lines, all.looks().lines);
  t.same(client.looks().cursor, all.looks().cursor);
  t.same((await late()).looks(), client.looks(), 'also for the next client');
  history.end();
});

t.test('heavy output leaves the same screen, though most of it was never drawn', async (t) => {
  const { say, late, all, history, log } = aTerminal(200_000);
  await say('\x1b[?2004h');
  for (let block = 0; block < 40; block += 1) {
    await say(Array.from({ length: 500 }, (_, line) => `block ${block} line ${line}\r\n`).join(''));
  }
  await say('$ ');
  t.ok(log.start() > 0);
  const client = await late();
  t.same(client.looks().lines.slice(-SIZE.rows), all.looks().lines.slice(-SIZE.rows));
  t.same(client.looks().cursor, all.looks().cursor);
  t.equal(client.terminal.modes.bracketedPasteMode, true);
  history.end();
});

t.test('a snapshot follows a size change', async (t) => {
  const { say, late, all, history } = aTerminal(200_000);
  await say('x'.repeat(100));
  const size = { cols: 30, rows: 10 };
  history.resized(size);
  all.terminal.resize(size.cols, size.rows);
  await say('\r\nafter');
  const snapshot = await history.snapshot();
  const client = aBrowserTerminal(size, 50);
  await client.write(snapshot?.bytes ?? '');
  t.same(client.looks().lines.slice(0, 4), all.looks().lines.slice(0, 4));
  t.ok(await late());
  history.end();
});

t.test('an ended terminal has no snapshot', async (t) => {
  const { say, history } = aTerminal(1_000);
  await say('x');
  history.end();
  t.equal(await history.snapshot(), null);
});

const same = (one: ReturnType<typeof aBrowserTerminal>, other: typeof one): boolean =>
  JSON.stringify(one.looks()) === JSON.stringify(other.looks());

/** Empty screens that record their calls; `written` delays their writes. */
function notingScreens(written: () => Promise<void> = async () => {}) {
  const steps: string[] = [];
  let bytes = 0;
  const open = ({ cols, rows }: typeof SIZE) => {
    steps.push(`open ${cols}x${rows}`);
    return {
      async write(output: Uint8Array) {
        steps.push(Buffer.from(output).toString());
        await written();
        bytes += output.length;
        return true;
      },
      resize: (size: typeof SIZE) => void steps.push(`${size.cols}x${size.rows}`),
      serialize: () => Buffer.alloc(0),
      end: () => void steps.push('end'),
    };
  };
  return { screens: { open }, steps, drawn: () => bytes };
}

t.test('each size applies from the output written under it', async (t) => {
  const { screens, steps } = notingScreens();
  const { say, history } = aTerminal(1_000_000, undefined, screens);
  await say('a');
  history.resized({ cols: 10, rows: 1 });
  await say('b');
  history.resized({ cols: 20, rows: 2 });
  history.resized({ cols: 30, rows: 3 });
  await say('c');
  const drawing = ['open 40x8', '40x8', 'a', '10x1', 'b', '30x3', 'c'];
  await history.snapshot();
  t.same(steps, [...drawing, 'end'], 'a size under which nothing was written is not drawn');
  await history.snapshot();
  t.same(steps, [...drawing, 'end', ...drawing, 'end'], 'all of it is drawn again while the log has it');
  history.end();
});

t.test('of very many sizes only some are kept, and the last one counts', async (t) => {
  const { screens, steps } = notingScreens();
  const { say, history } = aTerminal(1_000_000, undefined, screens);
  for (let cols = 1; cols <= 100; cols += 1) {
    await say('.');
    history.resized({ cols, rows: 1 });
  }
  await history.snapshot();
  const sizes = steps.filter((step) => /^\d+x/.test(step));
  t.same([sizes.length, sizes.at(-1)], [65, '100x1']);
  history.end();
});

const EAGER: Pace = { behindBytes: 8_192, closeBytes: 4_096, calmMs: 1, calmBytes: 1_000_000 };

t.test('drawing begins at the limit and includes later output', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { screens, steps, drawn } = notingScreens(() => gate.promise);
  const { say, history } = aTerminal(100_000, EAGER, screens);
  await say('x'.repeat(EAGER.behindBytes));
  await waitFor(() => steps.length > 2);
  await say('y'.repeat(16_384));
  gate.resolve();
  await waitFor(() => drawn() > EAGER.behindBytes);
  t.equal(steps.filter((step) => step.startsWith('open')).length, 1);
  history.end();
});

t.test('concurrent snapshots are drawn once, after the drawing ends', async (t) => {
  const gate = Promise.withResolvers<void>();
  const { screens, steps, drawn } = notingScreens(() => gate.promise);
  const { say, history } = aTerminal(100_000, undefined, screens);
  await say('both');
  const taken = Promise.all([1, 2].map(() => history.snapshot().then(drawn)));
  gate.resolve();
  t.same(await taken, [4, 4]);
  t.same(steps, ['open 40x8', '40x8', 'both', 'end']);
  history.end();
});

t.test("a history's snapshot has its scrollback, a buffer's has none", async (t) => {
  const { log, history, say } = aTerminal(100_000);
  await say(linesFrom(0, (line) => `line ${line}\r\n`));
  t.match((await history.snapshot())?.bytes.toString(), /line 3\b/);
  history.end();
  const snapshot = await snapshotOfBuffer(log, xtermScreens, SIZE);
  t.match(snapshot?.bytes.toString(), /line 19/);
  t.notMatch(snapshot?.bytes.toString(), /line 3\b/);
});

t.test('undrawable output gives no snapshot and affects nothing else', async (t) => {
  const faults = {
    write: async () => {
      throw new Error('not to be drawn');
    },
    serialize: () => {
      throw new Error('not to be shown');
    },
    resize: () => {
      throw new Error('not to be resized');
    },
  };
  for (const fault of ['write', 'serialize', 'resize'] as const) {
    let opened = 0;
    const screens = {
      open: (size: typeof SIZE) => {
        opened += 1;
        return { ...xtermScreens.open(size), [fault]: faults[fault] };
      },
    };
    const pace = { behindBytes: 100, closeBytes: 10, calmMs: 1, calmBytes: 10_000 };
    const log = outputBuffer(1_000);
    const history = new ScreenHistory(log, screens, SIZE, pace);
    log.append(Buffer.alloc(500, 'x'));
    history.grown();
    await waitFor(() => opened > 0);
    t.equal(await history.snapshot(), null, fault);
    t.equal(await history.snapshot(), null, 'nor later');
    history.end();
  }
});

t.test('a screen that cannot open gives no snapshot', async (t) => {
  const screens = {
    open: () => {
      throw new Error('not to be opened');
    },
  };
  const log = outputBuffer(1_000);
  log.append(Buffer.from('text'));
  t.equal(await new ScreenHistory(log, screens, SIZE).snapshot(), null);
  t.equal(await snapshotOfBuffer(log, screens, SIZE), null);
});

/** A recording without a limit, and its lines. */
function setUp() {
  const written: string[] = [];
  const cuts: CutReason[] = [];
  const file = { append: async (lines: string) => void written.push(lines), close: async () => {} };
  const tape = recorder({
    file,
    startedAt: new Date('2026-03-04T05:06:07.890Z'),
    size: { cols: 80, rows: 24 },
    limitBytes: 1_000_000_000,
    monotonicMs: () => 0,
    onCut: (why) => void cuts.push(why),
  });
  const events = async (): Promise<[number, string, string][]> => {
    await tape.end();
    const lines = written.join('').trim().split('\n').slice(1);
    return lines.map((line) => JSON.parse(line));
  };
  return { tape, events, written, cuts };
}

t.test('long output is several events, cut between characters', async (t) => {
  const { tape, events, cuts } = setUp();
  const text = 'grüße, 漢字 😀\n'.repeat(20_000);
  tape.output(Buffer.from(text));
  const found = await events();
  t.equal(found.map(([, , part]) => part).join(''), text);
  t.ok(found.length > 4 && found.every(([, , part]) => Buffer.byteLength(part) <= 65_536 + 4));
  t.same(cuts, []);
});

t.test('escaped control bytes count for the limit that ends a recording', async (t) => {
  const { tape, events, written, cuts } = setUp();
  tape.output(Buffer.alloc(2 * 1_048_576));
  t.same(cuts, ['too_fast']);
  await events();
  const bytes = written.reduce((sum, lines) => sum + lines.length, 0);
  t.ok(bytes > 8 * 1_048_576 && bytes < 9 * 1_048_576, `${bytes}`);
});
