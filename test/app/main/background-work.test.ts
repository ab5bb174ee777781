import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import t, { type Test } from 'tap';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import {
  type Onlooker,
  type SharedTerminalNotice,
  SharedTerminals,
} from '../../../src/app/collaboration/shared-terminals.ts';
import { EventFeed } from '../../../src/app/events/event-feed.ts';
import { publishEventsAdded } from '../../../src/app/events/event-messages.ts';
import { forgetEnded } from '../../../src/app/history-cleanup.ts';
import { repeatPass } from '../../../src/app/main/process/background-work.ts';
import { retryWithBackoff } from '../../../src/app/main/process/retry.ts';
import { stops } from '../../../src/app/main/process/shutdown-stack.ts';
import { sparingLog } from '../../../src/app/main/process/sparing-log.ts';
import { repeat } from '../../../src/concurrency/repeat.ts';
import { CLOSE, type CloseReason, type TerminalSize } from '../../../src/domain/terminals/terminal.ts';
import type { SharedScene } from '../../../src/ports/terminals/shared-container-repository.ts';
import { standingTime } from '../../support/time.ts';

t.test('failed work is retried until it succeeds', async (t) => {
  let tries = 0;
  const attempt = async (): Promise<boolean> => {
    tries += 1;
    return tries === 4;
  };
  t.equal(await retryWithBackoff(attempt, new AbortController().signal, 1), true);
  t.equal(tries, 4);
});

t.test('retry intervals grow', async (t) => {
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => void pauses.push(ms);
  await retryWithBackoff(async () => pauses.length === 9, new AbortController().signal, undefined, pause);
  const seconds = pauses.map((ms) => ms / 1_000);
  t.same(
    seconds,
    [5, 10, 20, 40, 80, 160, 300, 300, 300],
    'each is twice as long as the last one, to a limit',
  );
});

t.test('a signal ends retries, even during a pause', async (t) => {
  const stopping = new AbortController();
  let tries = 0;
  const attempt = async (): Promise<boolean> => {
    tries += 1;
    setImmediate(() => stopping.abort());
    return false;
  };
  t.equal(await retryWithBackoff(attempt, stopping.signal, 1), false);
  const waiting = new AbortController();
  const ended = retryWithBackoff(async () => !t.fail('it is not tried any more'), waiting.signal, 3_600_000);
  waiting.abort();
  t.equal(await ended, false);
  t.ok(tries >= 1);
});

const log = pino({ level: 'silent' });

t.test('parts stop in reverse order, whether or not one fails', async (t) => {
  const opened = stops(log);
  const stopped: string[] = [];
  opened.add('first', async () => void stopped.push('first'));
  opened.add('second', async () => {
    stopped.push('second');
    throw new Error('no');
  });
  opened.add('third', async () => void stopped.push('third'));
  await Promise.all([opened.run(), opened.run()]);
  t.same(stopped, ['third', 'second', 'first'], 'once');
});

t.test('work that fails again and again is logged once, and so is its success', async (t) => {
  const time = standingTime(t);
  const logged: string[] = [];
  const note = (_: unknown, text = String(_)): void => void logged.push(text);
  const sparing = sparingLog({ info: note, warn: note, error: note }, () => 0);
  let isAway = true;
  const stop = repeat(
    1_000,
    async () => void (isAway && (await Promise.reject(new Error('no engine')))),
    sparing,
  );
  const passes = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) {
      time.pass(1_000);
      await turns();
    }
  };
  await passes(5);
  t.same(logged, ['a repeated task failed']);
  isAway = false;
  await passes(5);
  t.same(logged, ['a repeated task failed', 'a repeated task works again']);
  await stop();
});

t.test('a hanging stop delays the others only up to its limit', async (t) => {
  const opened = stops(log);
  let passes = 0;
  let began = (): void => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const pass = (): Promise<void> => {
    passes += 1;
    began();
    return new Promise(() => {});
  };
  let last = false;
  opened.add('last', async () => {
    last = true;
  });
  opened.add('background', repeat(1, pass, log, 0), 20);
  await begun;
  await opened.run();
  t.ok(last);
  t.equal(passes, 1);
});

/** A pass that has run once and left work behind, and its end. */
async function aPassWithWorkLeft(idle: () => Promise<void>) {
  const begun = Promise.withResolvers<void>();
  const stop = repeatPass(
    3_600_000,
    Object.assign(async () => begun.resolve(), { idle }),
    log,
    0,
  );
  const ended = { now: false };
  return {
    begun: begun.promise,
    ended,
    stop: async () => {
      await stop();
      ended.now = true;
    },
  };
}

t.test('the end of a pass waits for the work that it has left in the background', async (t) => {
  const left = Promise.withResolvers<void>();
  const { begun, ended, stop } = await aPassWithWorkLeft(() => left.promise);
  await begun;
  const stopped = stop();
  await turns();
  t.notOk(ended.now);
  left.resolve();
  await stopped;
});

t.test('the end of a pass does not wait long for work that never ends', async (t) => {
  const time = standingTime(t);
  const { begun, ended, stop } = await aPassWithWorkLeft(() => new Promise(() => {}));
  time.pass(100);
  await begun;
  const stopped = stop();
  await turns();
  t.notOk(ended.now);
  time.pass(2_000);
  await stopped;
});

t.test('history is removed in parts, and a failing kind stops no other', async (t) => {
  const { storage } = memoryPorts();
  const { repositories } = storage;
  const asked: Record<string, number> = {};
  const history = {
    forget: async (kind: string, days: number, limit: number): Promise<number> => {
      asked[kind] = (asked[kind] ?? 0) + 1;
      t.same([days, limit], [(await repositories.settings.read()).historyDays, 200]);
      if (kind === 'operations') throw new Error('no');
      if (kind === 'sessions') return 1;
      return asked[kind] === 3 ? 0 : limit;
    },
  };
  await forgetEnded({ ...storage, repositories: { ...repositories, history } }, log)();
  t.same(asked, {
    operations: 1,
    sessions: 20,
    shares: 3,
    containers: 3,
    snapshots: 3,
    announcements: 3,
    outages: 3,
  });
});

t.test('a failure after the time limit ends nothing', async (t) => {
  const opened = stops(log);
  let fail = (_: Error): void => {};
  const never = new Promise<void>((_, reject) => {
    fail = reject;
  });
  opened.add('late', () => never, 1);
  await opened.run();
  fail(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  t.pass("it is nobody's any more");
});

t.test('a part opened during or after the stop is stopped too', async (t) => {
  const opened = stops(log);
  const stopped: string[] = [];
  opened.add('first', async () => {
    opened.add('during', async () => void stopped.push('during'));
    stopped.push('first');
  });
  await opened.run();
  t.same(stopped, ['first', 'during']);
  opened.add('after', async () => void stopped.push('after'));
  await opened.run();
  t.same(stopped, ['first', 'during', 'after']);
});

/** A feed of one user's events that polls every hour, and the frames of each subscriber. */
async function aFeed(waits: () => boolean = () => false) {
  const clock = fixedClock();
  const { storage, bus } = memoryPorts(clock);
  const { events } = storage.repositories;
  let checks = 0;
  const after: typeof events.after = async (...asked) => {
    checks += 1;
    return { ...(await events.after(...asked)), waiting: waits() };
  };
  const end: typeof events.end = async () => {
    checks += 1;
    return await events.end();
  };
  const encode = ({ dbId }: { dbId: string }): string => dbId;
  const feed = new EventFeed({ events: { ...events, after, end }, bus, log, encode, pollMs: 3_600_000 });
  await feed.ready();
  checks = 0;
  const closed: CloseReason[] = [];
  const subscribe = () => {
    const sent: string[] = [];
    const resync = () => void sent.push('resync');
    const send = (frame: string) => void sent.push(frame);
    const close = (reason: CloseReason) => void closed.push(reason);
    return {
      sent,
      ...feed.subscribe(
        { userId: 'ada', reaches: () => true, mayAdminister: () => true, send, resync, close },
        null,
      ),
    };
  };
  const happens = (dbId: string) =>
    events.append({ type: 'container_progress', dbId, ownerId: 'ada', data: {} });
  const announce = () => publishEventsAdded(bus);
  const { sweep } = events;
  return {
    feed,
    subscribe,
    happens,
    closed,
    announce,
    looks: () => checks,
    state: storage.state,
    clock,
    sweep,
  };
}

/** Resolves when ports in memory have answered. */
async function turns(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await turn();
}

t.test('events held back by a transaction are requested at growing intervals', async (t) => {
  const time = standingTime(t);
  let waiting = true;
  const { feed, subscribe, looks: checks } = await aFeed(() => waiting);
  subscribe();
  await turns();
  t.equal(checks(), 1);
  for (const pauseMs of [5, 10, 20, 40, 80, 160, 320, 500, 500]) {
    const before = checks();
    time.pass(pauseMs - 1);
    await turns();
    t.equal(checks(), before, `not within ${pauseMs} ms`);
    time.pass(1);
    await turns();
    t.equal(checks(), before + 1, `after ${pauseMs} ms`);
  }
  waiting = false;
  time.pass(500);
  await turns();
  const before = checks();
  time.pass(3_599_900);
  await turns();
  t.equal(checks(), before, 'at the regular interval once nothing is held back');
  feed.close(CLOSE.serviceRestarting);
});

t.test('the first subscriber gets events since the feed was ready, without a message', async (t) => {
  const time = standingTime(t);
  const { feed, subscribe, happens, announce, closed, looks: checks } = await aFeed();
  await happens('early');
  announce();
  await turns();
  t.equal(checks(), 0, 'nothing is read without a listener');
  const [first, second] = [subscribe(), subscribe()];
  t.same(await first.missed, []);
  await turns();
  t.same([first.sent, second.sent], [['early'], ['early']]);
  first.end();
  await happens('later');
  time.pass(3_600_000);
  await turns();
  t.same([first.sent, second.sent], [['early'], ['early', 'later']], 'the others still get what comes');
  feed.close(CLOSE.serviceRestarting);
  t.same(closed, [CLOSE.serviceRestarting], 'those who still listen learn why it ends');
});

t.test('after a failover to a server without the last events, subscribers resync', async (t) => {
  const { feed, subscribe, happens, announce, state } = await aFeed();
  const { sent } = subscribe();
  const comes = async (...all: string[]) => {
    for (const dbId of all) await happens(dbId);
    announce();
    await turns();
  };
  await comes('kept', 'lost', 'lost');
  Object.assign(state, { events: state.events.slice(0, 1), lastEvent: 1 });
  await comes('new');
  t.same(sent, ['kept', 'lost', 'lost', 'resync'], 'its number had been given to another event');
  await comes('next');
  t.same(sent.slice(4), ['next']);
  feed.close(CLOSE.serviceRestarting);
});

t.test('after a day without events, subscribers continue', async (t) => {
  const { feed, subscribe, happens, announce, clock, sweep } = await aFeed();
  const { sent } = subscribe();
  for (const dbId of ['first', 'last', null, 'next']) {
    if (dbId !== null) await happens(dbId);
    announce();
    await turns();
    if (dbId === 'next') continue;
    clock.advance(26 * 3_600_000);
    await sweep();
  }
  t.same(sent, ['first', 'last', 'next']);
  feed.close(CLOSE.serviceRestarting);
});

/** One container's terminals at one process, with a scene set by the test; `noted` has the stored sizes. */
function aSharedBox(t: Test) {
  const time = standingTime(t);
  const { bus, storage } = memoryPorts();
  const noted: (TerminalSize | null)[] = [];
  const now: { scene: SharedScene | null } = { scene: { size: null, present: [] } };
  const sharedContainers = {
    ...storage.repositories.sharedContainers,
    isShared: async () => now.scene !== null,
    scene: async () => now.scene,
    noteSize: async (_dbId: string, size: TerminalSize | null) => {
      noted.push(size);
      if (now.scene !== null) now.scene = { ...now.scene, size };
    },
  };
  const repositories = { ...storage.repositories, sharedContainers };
  const shared = new SharedTerminals({ repositories, bus, log, participations: () => [], shut: () => {} });
  const settle = async (): Promise<void> => {
    for (let n = 0; n < 5; n += 1) {
      await turns();
      time.pass(100);
    }
  };
  const enter = async (role: Onlooker['role'], size: TerminalSize) => {
    const notices: SharedTerminalNotice[] = [];
    const sizes: TerminalSize[] = [];
    const resize = async (to: TerminalSize) => void sizes.push(to);
    const entered = shared.enter({ dbId: 'box', role, size, resize });
    entered.onNotice((notice) => void notices.push(notice));
    await settle();
    const [change, leave] = [entered.resize, entered.leave];
    return {
      notices,
      sizes,
      resize: async (to: TerminalSize) => {
        await change(to);
        await settle();
      },
      leave: async () => {
        leave();
        await settle();
      },
    };
  };
  return { bus, now, noted, enter, settle };
}

t.test("a shared terminal has its owner's size, and nobody else's", async (t) => {
  const { noted, enter } = aSharedBox(t);
  const [own, small] = [
    { cols: 80, rows: 24 },
    { cols: 30, rows: 10 },
  ];
  const guest = await enter('participant', { cols: 100, rows: 40 });
  const other = await enter('participant', small);
  await guest.resize(small);
  t.same([noted, guest.sizes], [[], [small]], 'while the owner is away everybody has their own');
  const owner = await enter('owner', own);
  t.same([noted, guest.sizes], [[own], [small, own]]);
  for (const size of [
    { cols: 80, rows: 30 },
    { cols: 90, rows: 30 },
  ]) {
    await owner.resize(size);
    t.same([noted.at(-1), guest.sizes.at(-1), guest.notices.at(-1)], [size, size, { type: 'size', size }]);
  }
  await guest.resize({ cols: 20, rows: 5 });
  await other.leave();
  t.same([noted.length, guest.sizes.length], [3, 4], 'others change nothing');
  await owner.leave();
  t.equal(noted.at(-1), null);
  t.same(
    [guest.sizes.at(-1), guest.notices.at(-1)],
    [
      { cols: 20, rows: 5 },
      { type: 'size', size: null },
    ],
  );
});

t.test("an unshared terminal's size is not stored", async (t) => {
  const { now, noted, enter } = aSharedBox(t);
  now.scene = null;
  const owner = await enter('owner', { cols: 80, rows: 24 });
  await owner.resize({ cols: 90, rows: 30 });
  await owner.leave();
  t.same([noted, owner.sizes, owner.notices], [[], [{ cols: 90, rows: 30 }], []]);
});

t.test('events missed during a gap are sent after it', async (t) => {
  const { bus, now, enter, settle } = aSharedBox(t);
  const guest = await enter('participant', { cols: 80, rows: 24 });
  const present = [{ userId: 'eve', username: 'eve', owner: false, mode: 'view' }] as const;
  now.scene = { size: null, present };
  await settle();
  t.same(guest.notices, []);
  bus.cut();
  bus.reconnect();
  await settle();
  t.same(guest.notices, [{ type: 'participants', present }]);
});
