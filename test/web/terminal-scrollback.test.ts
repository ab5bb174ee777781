import { mock } from 'node:test';
import t, { type Test } from 'tap';
import type { Snapshot } from '../../src/protocol/terminal-frames.ts';
import { Scrollback } from '../../web/src/terminal/screen/scrollback.ts';

const SIZE = { cols: 80, rows: 24 };
const snapshot = (given: Partial<Snapshot> = {}): Snapshot => ({
  ...SIZE,
  history_rows: 100,
  cursor_x: 0,
  cursor_y: 0,
  text: '',
  ...given,
});

/** A terminal whose user turns the wheel, and what it did about it. */
function aTerminal(t: Test, { muxed = true } = {}) {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  t.teardown(() => mock.timers.reset());
  const did: string[] = [];
  const now = { above: 0, size: SIZE, selected: false };
  let lastId = 0;
  let filled = (): void => {};
  const scrollback = new Scrollback({
    service: {
      requestSnapshot: (id) => {
        lastId = id;
        did.push('ask');
      },
      requestRedraw: (id) => {
        lastId = id;
        did.push('redraw');
      },
    },
    output: {
      freeze: () => did.push('freeze'),
      hold: () => did.push('hold'),
      goLive: (isRedrawn) => did.push(isRedrawn ? 'live' : 'live with what was missed'),
    },
    view: {
      show: (_, above, done) => {
        did.push(`show ${above}`);
        filled = () => {
          now.above = above;
          done();
        };
      },
      showAbove: (rows) => did.push(`above ${rows}`),
      arrows: (count) => did.push(`arrows ${count}`),
      above: () => now.above,
      size: () => now.size,
      hasSelection: () => now.selected,
    },
    nowMs: () => Date.now(),
  });
  t.teardown(() => scrollback.dispose());
  scrollback.connected(muxed, false);
  did.splice(0);
  return {
    scrollback,
    now,
    did: () => did.splice(0),
    lastId: () => lastId,
    filled: () => filled(),
    /** The service answers the last question with this, and the terminal has drawn it. */
    answer(given: Partial<Snapshot> = {}) {
      scrollback.answered({ id: lastId, program: 'shell', snapshot: snapshot(given) });
      filled();
    },
    fullScreen: () => scrollback.answered({ id: lastId, program: 'full_screen', snapshot: null }),
    scrollTo(above: number) {
      now.above = above;
      scrollback.scrolled();
    },
  };
}

/** One whose user has turned the wheel by five rows and sees them. */
function scrolledBack(t: Test) {
  const terminal = aTerminal(t);
  terminal.scrollback.wheel(-5);
  terminal.answer();
  terminal.did();
  return terminal;
}

t.test('without a multiplexer the terminal scrolls by itself', async (t) => {
  const { scrollback, did, scrollTo } = aTerminal(t, { muxed: false });
  scrollback.output();
  t.equal(scrollback.wheel(-3), false);
  scrollTo(3);
  t.same(did(), []);
});

t.test('the first turn of the wheel waits for a snapshot, later ones for nothing', async (t) => {
  const { scrollback, did, answer } = aTerminal(t);
  t.ok(scrollback.wheel(-3));
  t.ok(scrollback.wheel(-2));
  answer();
  t.same(did(), ['ask', 'show 5']);
  t.equal(scrollback.wheel(-3), false);
  t.ok(scrollback.isComplete);
  t.same(did(), []);
});

t.test('a full-screen program gets arrow keys, until the user types', async (t) => {
  const { scrollback, did, fullScreen, answer } = aTerminal(t);
  scrollback.wheel(-3);
  fullScreen();
  t.same(did(), ['ask', 'arrows -3']);
  t.ok(scrollback.wheel(2));
  t.same(did(), ['arrows 2']);
  scrollback.typed();
  t.ok(scrollback.wheel(-1));
  answer();
  t.same(did(), ['ask', 'show 1']);
});

t.test('during output the snapshot is replaced now and then, with the same rows in view', async (t) => {
  const { scrollback, did, answer } = scrolledBack(t);
  scrollback.output();
  scrollback.output();
  t.notOk(scrollback.isComplete);
  t.ok(scrollback.isSnapshot);
  mock.timers.tick(999);
  t.same(did(), []);
  mock.timers.tick(1);
  answer({ history_rows: 130 });
  t.same(did(), ['ask', 'show 35']);
  mock.timers.tick(60_000);
  t.same(did(), [], 'not when nothing came');
});

t.test('output between a request and its answer may be newer than the answer', async (t) => {
  const { scrollback, did, answer } = aTerminal(t);
  scrollback.wheel(-5);
  scrollback.output();
  answer();
  t.notOk(scrollback.isComplete);
  did();
  mock.timers.tick(1_000);
  t.same(did(), ['ask']);
});

t.test('a selection is not taken away', async (t) => {
  const { scrollback, now, did } = scrolledBack(t);
  now.selected = true;
  scrollback.output();
  mock.timers.tick(10_000);
  t.same(did(), []);
  now.selected = false;
  mock.timers.tick(1_000);
  t.same(did(), ['ask']);
});

t.test('on return the multiplexer redraws, and output waits for that', async (t) => {
  const { scrollback, did, lastId, scrollTo } = scrolledBack(t);
  scrollback.output();
  did();
  scrollTo(0);
  t.same(did(), ['hold', 'redraw']);
  scrollback.redrawn(lastId() - 1);
  t.same(did(), [], 'an older answer');
  scrollback.redrawn(lastId());
  t.same(did(), ['live']);
  mock.timers.tick(60_000);
  t.same(did(), []);
});

t.test('the return does not wait long, and not at all without output', async (t) => {
  const { scrollback, did, answer, scrollTo } = scrolledBack(t);
  scrollTo(0);
  t.same(did(), ['hold', 'redraw', 'live'], 'the snapshot was the newest');
  scrollback.output();
  scrollback.wheel(-5);
  answer();
  scrollback.output();
  scrollTo(0);
  did();
  mock.timers.tick(500);
  t.same(did(), ['live with what was missed']);
});

t.test('scrolling by other means shows what is missing, at the same place', async (t) => {
  const { scrollback, did, answer, scrollTo } = aTerminal(t);
  scrollback.output();
  scrollTo(12);
  scrollTo(13);
  answer();
  t.same(did(), ['ask', 'show 13']);
  t.equal(scrollback.wheel(-1), false, 'away from the newest screen the terminal scrolls by itself');
});

t.test('filling the terminal does not count as scrolling', async (t) => {
  const { scrollback, did, lastId, filled, scrollTo } = aTerminal(t);
  scrollback.wheel(-5);
  scrollback.answered({ id: lastId(), program: 'shell', snapshot: snapshot() });
  scrollTo(0);
  filled();
  t.same(did(), ['ask', 'show 5']);
});

t.test('a snapshot of another size is requested again', async (t) => {
  const { scrollback, now, did, answer, lastId } = aTerminal(t);
  scrollback.wheel(-5);
  now.size = { cols: 100, rows: 24 };
  scrollback.answered({ id: lastId(), program: 'shell', snapshot: snapshot() });
  scrollback.wheel(-2);
  mock.timers.tick(150);
  answer({ cols: 100 });
  t.same(did(), ['ask', 'ask', 'show 7']);
});

t.test('a new size while scrolled back requests another snapshot', async (t) => {
  const { scrollback, did } = scrolledBack(t);
  scrollback.resized();
  mock.timers.tick(150);
  t.same(did(), ['ask']);
});

t.test('a full-screen program gets arrow keys only for the wheel', async (t) => {
  const { scrollback, did, fullScreen, scrollTo } = aTerminal(t);
  scrollback.output();
  scrollTo(12);
  fullScreen();
  scrollback.scrolled();
  await scrollback.searching();
  t.same(did(), ['ask']);
});

t.test('a search waits for all lines, and may go up from there', async (t) => {
  const { scrollback, did, answer, scrollTo } = aTerminal(t);
  scrollback.output();
  const found = scrollback.searching().then(() => scrollTo(40));
  answer();
  await found;
  mock.timers.tick(300);
  t.same(did(), ['ask', 'show 0']);
});

t.test('a search waits for lines already requested', async (t) => {
  const { scrollback, answer } = aTerminal(t);
  scrollback.output();
  const order: number[] = [];
  const searches = [1, 2].map((each) => scrollback.searching().then(() => order.push(each)));
  await Promise.resolve();
  t.same(order, []);
  answer();
  await Promise.all(searches);
  t.same(order, [1, 2]);
});

t.test('a search on the newest screen leaves it as it was', async (t) => {
  const { scrollback, did, answer } = aTerminal(t);
  scrollback.output();
  const found = scrollback.searching();
  answer();
  await found;
  mock.timers.tick(300);
  t.same(did(), ['ask', 'show 0', 'hold', 'redraw', 'live']);
});

t.test('a late answer does not delay the wheel, and is used when it comes', async (t) => {
  const { scrollback, now, did, answer } = aTerminal(t);
  scrollback.wheel(-5);
  mock.timers.tick(1_000);
  t.same(did(), ['ask', 'above 5']);
  now.above = 5;
  answer();
  t.same(did(), ['show 5']);
});

t.test('an unanswered request is repeated', async (t) => {
  const { scrollback, did } = scrolledBack(t);
  scrollback.output();
  mock.timers.tick(1_000);
  did();
  mock.timers.tick(10_000);
  t.same(did(), ['ask']);
});

t.test('a new connection forgets open requests', async (t) => {
  const { scrollback, did, lastId } = aTerminal(t);
  scrollback.wheel(-1);
  scrollback.connected(true, false);
  scrollback.answered({ id: lastId(), program: 'shell', snapshot: snapshot() });
  t.same(did(), ['ask', 'live']);
});

t.test('an exact resume changes nothing for a user who has scrolled back', async (t) => {
  const { scrollback, did, lastId, scrollTo } = scrolledBack(t);
  scrollback.connected(true, true);
  mock.timers.tick(0);
  t.same(did(), ['ask']);
  scrollTo(0);
  did();
  scrollback.connected(true, true);
  mock.timers.tick(0);
  t.same(did(), ['hold', 'redraw'], 'nor for who returns');
  scrollback.redrawn(lastId());
  t.same(did(), ['live']);
});

t.test('the end of a shell shows its last output', async (t) => {
  const { scrollback, did } = scrolledBack(t);
  scrollback.ended();
  t.same(did(), ['live with what was missed']);
});

t.test('the newest screen is requested until it is drawn, even over a new connection', async (t) => {
  const { scrollback, did, lastId, scrollTo } = scrolledBack(t);
  scrollback.output();
  scrollTo(0);
  mock.timers.tick(500);
  did();
  for (const line of ['first', 'second']) {
    scrollback.connected(true, true);
    mock.timers.tick(0);
    t.same(did(), ['hold', 'redraw'], `the ${line} line`);
    mock.timers.tick(500);
    t.same(did(), ['live with what was missed']);
  }
  scrollback.redrawn(lastId());
  scrollback.connected(true, true);
  mock.timers.tick(500);
  t.same(did(), ['live'], 'a late drawing is one as well');
});

t.test('a screen drawn by a new stream or a newer snapshot is not requested', async (t) => {
  for (const draw of ['stream', 'snapshot'] as const) {
    const { scrollback, did, answer, scrollTo } = scrolledBack(t);
    scrollback.output();
    scrollTo(0);
    mock.timers.tick(500);
    if (draw === 'stream') scrollback.connected(true, false);
    else {
      scrollTo(5);
      answer();
      scrollTo(0);
    }
    did();
    scrollback.connected(true, true);
    mock.timers.tick(500);
    t.same(did(), ['live'], draw);
    mock.timers.reset();
  }
});

t.test('leaving while a snapshot of another size is requested misses no output', async (t) => {
  const { scrollback, did, lastId, scrollTo } = scrolledBack(t);
  scrollback.output();
  mock.timers.tick(1_000);
  scrollback.answered({ id: lastId(), program: 'shell', snapshot: snapshot({ cols: 100 }) });
  did();
  scrollTo(0);
  t.same(did(), ['hold', 'redraw']);
});

t.test('a return that continues on a new connection waits for its redraw as usual', async (t) => {
  const { scrollback, did, scrollTo } = scrolledBack(t);
  scrollback.output();
  scrollTo(0);
  mock.timers.tick(400);
  scrollback.connected(true, true);
  mock.timers.tick(0);
  did();
  mock.timers.tick(499);
  t.same(did(), []);
  mock.timers.tick(1);
  t.same(did(), ['live with what was missed']);
});

t.test('a search that waits when the terminal ends continues', async (t) => {
  const { scrollback } = aTerminal(t);
  scrollback.output();
  let isDone = false;
  void scrollback.searching().then(() => {
    isDone = true;
  });
  scrollback.ended();
  await Promise.resolve();
  await Promise.resolve();
  t.ok(isDone);
});
