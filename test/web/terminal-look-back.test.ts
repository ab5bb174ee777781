import t, { type Test } from 'tap';
import { LookBack } from '../../web/src/terminal/look-back.ts';

const ROWS = 4;
const FLOOD = new Uint8Array(ROWS).fill(10);
const TEXT = new TextEncoder().encode('a line\r\n');

/** A terminal whose user turns the wheel, and what it did about it. */
function aTerminal(t: Test, { muxed = true } = {}) {
  const did: string[] = [];
  const now = { ms: 0, above: 0 };
  const lookBack = new LookBack({
    ask: () => did.push('ask'),
    showAbove: (lines) => did.push(`above ${lines}`),
    arrows: (count) => did.push(`arrows ${count}`),
    above: () => now.above,
    rows: () => ROWS,
    nowMs: () => now.ms,
  });
  t.teardown(() => lookBack.dispose());
  lookBack.connected(muxed);
  return { lookBack, now, did: () => did.splice(0) };
}

t.test('without a multiplexer the terminal scrolls by itself', async (t) => {
  const { lookBack, did } = aTerminal(t, { muxed: false });
  lookBack.output(FLOOD);
  t.equal(lookBack.wheel(-3), false);
  t.same(did(), []);
});

t.test('in a shell the first turn waits for what is missing, later ones for nothing', async (t) => {
  const { lookBack, did } = aTerminal(t);
  t.ok(lookBack.wheel(-3));
  t.ok(lookBack.wheel(-2));
  t.same(did(), ['ask']);
  lookBack.answered('shell');
  t.same(did(), ['above 5']);
  t.equal(lookBack.wheel(-3), false);
  t.same(did(), []);
});

t.test('a program with the whole screen gets arrow keys, until something is typed', async (t) => {
  const { lookBack, did } = aTerminal(t);
  lookBack.wheel(-3);
  lookBack.answered('full_screen');
  t.same(did(), ['ask', 'arrows -3']);
  t.ok(lookBack.wheel(2));
  t.same(did(), ['arrows 2']);
  lookBack.typed();
  t.ok(lookBack.wheel(-1));
  t.same(did(), ['ask']);
  lookBack.answered('shell');
  t.same(did(), ['above 1']);
});

t.test('what was drawn line by line is there; what went by faster is asked for', async (t) => {
  const { lookBack, did } = aTerminal(t);
  lookBack.wheel(-1);
  lookBack.answered('shell');
  did();
  lookBack.output(TEXT);
  t.equal(lookBack.wheel(-1), false);
  lookBack.output(FLOOD.subarray(1));
  lookBack.output(FLOOD.subarray(0, 1));
  t.ok(lookBack.wheel(-1), 'as many line feeds in a row as there are rows, over two frames');
  t.same(did(), ['ask']);
  lookBack.answered('shell');
  lookBack.output(new Uint8Array(65_536).fill(65));
  t.ok(lookBack.wheel(-1), 'or very much output');
});

t.test('an answer is not believed for ever', async (t) => {
  const { lookBack, now, did } = aTerminal(t);
  lookBack.wheel(-1);
  lookBack.answered('shell');
  did();
  now.ms = 2_000;
  lookBack.output(TEXT);
  t.ok(lookBack.wheel(-1));
  t.same(did(), ['ask']);
});

t.test('who scrolls by other means gets what is missing, at the same place', async (t) => {
  const { lookBack, now, did } = aTerminal(t);
  lookBack.output(FLOOD);
  now.above = 12;
  lookBack.scrolled();
  lookBack.answered('shell');
  lookBack.scrolled();
  t.same(did(), ['ask', 'above 12']);
  t.equal(lookBack.wheel(-1), false, 'away from the newest screen the terminal scrolls by itself');
});

t.test('a program with the whole screen gets no keys for what was not the wheel', async (t) => {
  const { lookBack, now, did } = aTerminal(t);
  lookBack.output(FLOOD);
  now.above = 12;
  lookBack.scrolled();
  lookBack.answered('full_screen');
  lookBack.scrolled();
  lookBack.searching();
  t.same(did(), ['ask']);
});

t.test('a search has all lines to look through', async (t) => {
  const { lookBack, did } = aTerminal(t);
  lookBack.searching();
  t.same(did(), [], 'nothing is missing');
  lookBack.output(FLOOD);
  lookBack.searching();
  lookBack.answered('shell');
  t.same(did(), ['ask', 'above 0']);
});

t.test('a new connection forgets what was asked', async (t) => {
  const { lookBack, did } = aTerminal(t);
  lookBack.wheel(-1);
  lookBack.connected(true);
  lookBack.answered('shell');
  t.same(did(), ['ask']);
});
