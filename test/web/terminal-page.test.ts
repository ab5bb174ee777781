import { mock } from 'node:test';
import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { HEALTHY } from '../../src/client/terminal/connection-types.ts';
import type { Trouble } from '../../src/client/terminal/terminal-protocol.ts';
import type { Container } from '../../web/src/api/types.ts';
import { lazyImport } from '../../web/src/lib/lazy-import.ts';
import { outputQueue } from '../../web/src/terminal/output-queue.ts';
import { actionOf, isPaneAction, type KeyPress, paneAction } from '../../web/src/terminal/panes/shortcuts.ts';
import { decideCopy, shownText, sizeText } from '../../web/src/terminal/program-copy.ts';
import {
  canConnect,
  commonOverlay,
  type Overlay,
  overlayOf,
} from '../../web/src/views/terminal/overlay-state.ts';

const press = (keys: Partial<KeyPress>): KeyPress => ({
  key: '',
  code: '',
  ctrlKey: false,
  shiftKey: false,
  altKey: false,
  metaKey: false,
  ...keys,
});

const ALONE = { hasSelection: false, severalPanes: false };

t.test('Ctrl+C interrupts unless something is selected', async (t) => {
  const ctrlC = press({ ctrlKey: true, code: 'KeyC', key: 'c' });
  t.equal(actionOf(ctrlC, ALONE), null);
  t.equal(actionOf(ctrlC, { ...ALONE, hasSelection: true }), 'copy');
});

t.test('the page takes its own keys and leaves all others to the shell', async (t) => {
  const withShift = (code: string) => press({ ctrlKey: true, shiftKey: true, code, key: code.slice(3) });
  t.same(
    ['KeyC', 'KeyV', 'KeyF'].map((code) => actionOf(withShift(code), ALONE)),
    ['copy', 'paste', 'search'],
  );
  t.equal(actionOf(press({ ctrlKey: true, key: '+', code: 'Equal', shiftKey: true }), ALONE), 'larger');
  t.equal(actionOf(press({ ctrlKey: true, key: '-', code: 'Minus' }), ALONE), 'smaller');
  const shells = [
    press({ ctrlKey: true, key: 'v', code: 'KeyV' }),
    press({ ctrlKey: true, key: 'f', code: 'KeyF' }),
    press({ altKey: true, ctrlKey: true, key: 'c', code: 'KeyC' }),
    press({ shiftKey: true, key: 'C', code: 'KeyC' }),
    press({ key: '+', code: 'Equal' }),
  ];
  const all = { hasSelection: true, severalPanes: true };
  for (const each of shells) t.equal(actionOf(each, all), null, JSON.stringify(each));
});

t.test('keys for panes are taken from the shell only while there are several', async (t) => {
  const withShift = (code: string) => press({ ctrlKey: true, shiftKey: true, code });
  const several = { ...ALONE, severalPanes: true };
  const cases = [
    ['KeyE', 'split_right', 'split_right'],
    ['KeyO', 'split_below', 'split_below'],
    ['KeyX', null, 'close_pane'],
    ['ArrowLeft', null, 'go_left'],
    ['ArrowRight', null, 'go_right'],
    ['ArrowUp', null, 'go_up'],
    ['ArrowDown', null, 'go_down'],
  ] as const;
  for (const [code, alone, among] of cases) {
    t.equal(actionOf(withShift(code), ALONE), alone, code);
    t.equal(actionOf(withShift(code), several), among, code);
    t.equal(paneAction(withShift(code), true), among, code);
    t.equal(isPaneAction(among), true, among);
    t.equal(paneAction({ ...withShift(code), altKey: true }, true), null);
    t.equal(actionOf({ ...withShift(code), shiftKey: false }, several), null);
  }
  t.equal(paneAction(withShift('KeyC'), true), null, 'no key of a terminal');
  t.equal(isPaneAction('search'), false);
});

t.test('output is fed as fast as it is drawn, in order, and heavy output is reported once', async (t) => {
  const drawn: number[] = [];
  const done: (() => void)[] = [];
  const received: string[] = [];
  const queue = outputQueue(
    (data, drawnNow) => {
      drawn.push(data[0] ?? -1);
      done.push(drawnNow);
    },
    () => ({
      pauseOutput: () => void received.push('pause'),
      resumeOutput: () => void received.push('resume'),
    }),
    1_500_000,
  );
  for (let i = 0; i < 8; i += 1) queue.push(new Uint8Array(400_000).fill(i));
  t.same(drawn, [0, 1], 'no more than the screen can take');
  while (done.length > 0) done.shift()?.();
  t.same(drawn, [0, 1, 2, 3, 4, 5, 6, 7]);
  t.same(received, ['pause', 'resume']);
  t.equal(queue.queuedBytes, 0);
});

t.test('output that waits is taken back in order, without what the screen has', async (t) => {
  const drawn: number[] = [];
  const done: (() => void)[] = [];
  const write = (data: Uint8Array, drawnNow: () => void): void => {
    drawn.push(data[0] ?? -1);
    done.push(drawnNow);
  };
  const queue = outputQueue(write, () => ({ pauseOutput: () => {}, resumeOutput: () => {} }));
  for (let i = 0; i < 6; i += 1) queue.push(new Uint8Array(300_000).fill(i));
  done.shift()?.();
  t.same(drawn, [0, 1, 2]);
  t.same(
    queue.takeWaiting().map(([first]) => first),
    [3, 4, 5],
  );
  t.equal(queue.queuedBytes, 0);
  queue.push(new Uint8Array(1).fill(6));
  while (done.length > 0) done.shift()?.();
  t.same(drawn, [0, 1, 2, 6]);
});

const trying = (trouble: Trouble) => ({ kind: 'connecting', trouble }) as const;
const waits = (trouble: Trouble) => ({ kind: 'waiting', trouble, delayMs: 900, attempt: 2 }) as const;
const container = (status: string) => ({ status, name: 'a' }) as Container;

t.test('the overlay follows from the connection, before it from the container', async (t) => {
  const before = { connection: null, everOpen: false, health: HEALTHY, reach: 'fine' } as const;
  t.same(overlayOf(before, 'unknown'), { kind: 'connecting' });
  t.same(overlayOf(before, container('running')), { kind: 'connecting' });
  t.same(overlayOf(before, container('creating')), { kind: 'preparing', status: 'creating' });
  t.match(overlayOf(before, container('stopped')), { kind: 'over', why: 'stopped' });
  t.match(overlayOf(before, container('failed')), { kind: 'over', why: 'stopped' });
  t.match(overlayOf(before, 'gone'), { kind: 'over', why: 'deleted' });
  const open = { ...before, connection: { kind: 'open' }, everOpen: true } as const;
  t.same(overlayOf(open, container('stopped')), { kind: 'none' });
  const silent = { answers: false, unsentCharacters: 18 };
  const cases = [
    [{ ...open, health: silent }, 'no_answer', null],
    [{ ...open, health: silent, reach: 'offline' }, 'offline', null],
    [{ ...open, health: silent, connection: trying('line') }, 'line', null],
    [{ ...open, health: silent, connection: waits('line') }, 'line', 900],
    [{ ...open, health: silent, connection: waits('line'), reach: 'offline' }, 'offline', 900],
    [{ ...open, health: silent, connection: waits('processes') }, 'processes', 900],
  ] as const;
  for (const [facts, how, retryInMs] of cases) {
    const lost = { kind: 'lost', how, retryInMs, everOpen: true, unsentCharacters: 18 };
    t.same(overlayOf(facts, 'unknown'), lost);
  }
  const deleted = { ...open, connection: { kind: 'over', why: 'deleted', exitCode: null } } as const;
  t.match(overlayOf(deleted, container('running')), { why: 'deleted' }, 'as it was before');
  t.match(overlayOf(deleted, 'gone'), { why: 'deleted' });
  t.match(overlayOf(deleted, container('stopped')), { why: 'stopped' }, 'restored meanwhile');
  const stopped = { ...open, connection: { kind: 'over', why: 'stopped', exitCode: null } } as const;
  t.match(overlayOf(stopped, 'gone'), { why: 'deleted' }, 'deleted after it was stopped');
  t.same(overlayOf({ ...open, reach: 'offline' }, 'unknown'), { kind: 'none' }, 'a line that answers is up');
  t.same(overlayOf({ ...before, connection: trying('line') }, 'unknown'), { kind: 'connecting' });
  const explained = [
    'processes',
    'unresponsive',
    'busy',
    'too_many',
    'address',
    'rate',
    'no_tmux',
    'database',
  ];
  for (const trouble of explained as Trouble[])
    for (const connection of [trying(trouble), waits(trouble)])
      t.match(overlayOf({ ...before, connection }, 'unknown'), { kind: 'lost', how: trouble });
  t.equal(canConnect(container('starting')), false);
});

t.test('news about all panes is shown once, about one pane in it', async (t) => {
  const over = (why: 'ended' | 'stopped' | 'replaced' | 'deleted'): Overlay => ({
    kind: 'over',
    why,
    exitCode: null,
  });
  const lost = (retryInMs: number | null, unsentCharacters = 0): Overlay => ({
    kind: 'lost',
    how: 'line',
    retryInMs,
    everOpen: true,
    unsentCharacters,
  });
  const none: Overlay = { kind: 'none' };
  const connecting: Overlay = { kind: 'connecting' };
  const cases: [string, Overlay[], Overlay | null][] = [
    ['all is well', [none, none], none],
    ['nothing is there yet', [], null],
    ['one is new', [none, connecting], null],
    ['all are new', [connecting, connecting], connecting],
    ['the service has gone', [lost(900), lost(200)], lost(900)],
    ['what was typed into any of them counts', [lost(9, 4), lost(9, 2)], lost(9, 6)],
    ['one line is lost', [none, lost(200)], null],
    ['it was stopped', [over('stopped'), over('stopped')], over('stopped')],
    ['not all have heard of it yet', [none, lost(9), over('deleted')], over('deleted')],
    ['a shell has ended', [over('ended'), none], null],
    ['the only shell has ended', [over('ended')], null],
    ['one is shown elsewhere', [over('replaced'), none], null],
  ];
  for (const [name, overlays, common] of cases) t.same(commonOverlay(overlays), common, name);
});

const request = { selection: 'c', text: 'rm -rf ~\n', isOwner: true, isAllowed: false };

t.test('a program copies nothing unasked, unless its user allows it', async (t) => {
  t.equal(decideCopy(request), 'ask');
  t.equal(decideCopy({ ...request, isAllowed: true }), 'write');
  for (const selection of ['', 'c', 'pc', 'c0'])
    t.equal(decideCopy({ ...request, selection }), 'ask', selection);
  for (const selection of ['p', 's', '0', 'q7'])
    t.equal(decideCopy({ ...request, selection, isAllowed: true }), 'ignore', selection);
  t.equal(
    decideCopy({ ...request, text: '', isAllowed: true }),
    'ignore',
    'nothing clears what was copied before',
  );
});

t.test("the owner's programs do not reach a viewer's clipboard", async (t) => {
  for (const isAllowed of [false, true])
    t.equal(decideCopy({ ...request, isOwner: false, isAllowed }), 'ignore');
});

t.test('text to copy is shown completely', async (t) => {
  t.equal(shownText('ls\tx\nécole 漢字 😀'), 'ls\tx\nécole 漢字 😀');
  t.equal(
    shownText('a\u202eb\u200bc\x1b[8md\0\u2028e\u{e0061}'),
    'a<202E>b<200B>c<001B>[8md<0000><2028>e<E0061>',
  );
  t.equal(shownText('one\r\ntwo\rthree'), 'one\ntwo\nthree');
  t.equal(shownText('x'.repeat(500)), `${'x'.repeat(400)}…`);
  t.equal(sizeText('x'), '1 character');
  t.equal(sizeText(`${'x'.repeat(1_200)}\n`), '1,201 characters, ends with a line break');
  t.equal(sizeText('a\nb'), '2 lines, 3 characters');
});

const FAILURE = new Error('no such part');

/** A tab's storage and clock, and how often it was loaded anew. */
function aTab(t: { teardown(then: () => void): void }, keeps = true) {
  const kept = new Map<string, string>();
  Object.assign(globalThis, {
    sessionStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => keeps && kept.set(key, value),
    },
  });
  t.teardown(() => void Reflect.deleteProperty(globalThis, 'sessionStorage'));
  const tab = { ms: 1_000_000, reloads: 0 };
  const reload = (): void => {
    tab.reloads += 1;
  };
  return { tab, on: { nowMs: () => tab.ms, reload } };
}

/** Fails so many times, then loads. */
function aPart(failures: number) {
  const part = { asked: 0 };
  const load = async (): Promise<string> => {
    part.asked += 1;
    if (part.asked <= failures) throw FAILURE;
    return 'part';
  };
  return { part, load };
}

t.test('a part that fails to load once is requested again', async (t) => {
  const { tab, on } = aTab(t);
  const { part, load } = aPart(1);
  t.equal(await lazyImport(load, on), 'part');
  t.same([part.asked, tab.reloads], [2, 0]);
});

t.test('a part that keeps failing reloads the page, once in a minute', async (t) => {
  const { tab, on } = aTab(t);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const pause = async (): Promise<void> => {
    await immediate();
    mock.timers.tick(500);
    await immediate();
  };
  let end = 'waits';
  const ended = (how: string) => () => {
    end = how;
  };
  lazyImport(aPart(2).load, on).then(ended('loaded'), ended('failed'));
  await pause();
  t.same([end, tab.reloads], ['waits', 1]);
  tab.ms += 59_000;
  const second = lazyImport(aPart(2).load, on);
  await Promise.all([t.rejects(second, FAILURE), pause()]);
  t.equal(tab.reloads, 1);
});

t.test('a tab without storage is not reloaded for ever', async (t) => {
  const { tab, on } = aTab(t, false);
  await t.rejects(lazyImport(aPart(2).load, on), FAILURE);
  t.equal(tab.reloads, 0);
});
