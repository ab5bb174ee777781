import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import t from 'tap';
import { fixedClock, memoryBusHub, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { actRecords } from '../../../src/app/audit/activity-records.ts';
import { containerUses } from '../../../src/app/containers/lifetime/container-uses.ts';
import { EventFeed } from '../../../src/app/events/event-feed.ts';
import { sshConnections } from '../../../src/app/terminals/ssh/ssh-connections.ts';
import { DEFAULT_USE_LIMITS } from '../../../src/domain/identity/use-limits.ts';
import { ok } from '../../../src/domain/result.ts';
import { CLOSE } from '../../../src/domain/terminals/terminal.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';
import { aCaller } from '../../support/samples/samples.ts';
import { standingTime } from '../../support/time.ts';
import { valuesOf } from '../../support/values.ts';

const log = pino({ level: 'silent' });
const fault = async () => {
  throw new Error('the database has gone');
};

/** A client of a container that stops when idle, and what its connection leaves. */
async function aScene() {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  const { repositories } = storage;
  const user = await storedUser(storage);
  const { dbId } = await storedContainer(storage, user.id);
  await repositories.lifetimes.change(dbId, { idleSeconds: 60 });
  const feed = new EventFeed({
    events: repositories.events,
    bus: memoryBusHub().join(),
    log,
    encode: (event) => event,
  });
  const uses = containerUses(repositories, () => clock.now().getTime());
  let registered = 0;
  const register = () => {
    registered += 1;
    const end = () => {
      registered -= 1;
    };
    return { use: () => true, end };
  };
  const connections = sshConnections({
    repositories,
    feed,
    uses,
    log,
    mayStay: () => true,
    channelsPerConnection: 10,
    acts: actRecords({ audit: repositories.audit, monotonicMs: () => clock.now().getTime() }),
    live: { register, closeAll() {}, count: () => registered },
    requests: { admitFor: () => ok(null) },
  });
  const signedIn = { caller: aCaller({ user }), requestsPerMinute: 0, limits: DEFAULT_USE_LIMITS };
  let closes = 0;
  const connect = (wanted: string = dbId) =>
    connections.connect({
      signedIn,
      origin: { ipAddress: '', userAgent: 'ssh' },
      wanted,
      close: () => {
        closes += 1;
      },
    });
  /** What is left once its time has come. */
  const left = async () => {
    clock.advance(600_000);
    await uses.keep();
    const [last] = await repositories.lifetimes.activity(dbId);
    feed.close(CLOSE.serviceRestarting);
    return { isUsed: last?.lastAt.getTime() === clock.now().getTime(), closes, registered };
  };
  const recorded = () => storage.state.audit.map(({ action, details }) => [action, JSON.parse(details)]);
  return {
    storage,
    repositories,
    connect,
    left,
    recorded,
    feed,
    state: storage.state,
    dbId,
    closes: () => closes,
  };
}

for (const [step, breakIt] of [
  ['its use', ({ lifetimes }) => Object.assign(lifetimes, { noteUses: fault })],
  ['its start', ({ audit }) => Object.assign(audit, { append: fault })],
] as const satisfies readonly [string, (of: Awaited<ReturnType<typeof aScene>>['repositories']) => void][])
  t.test(`a connection that cannot record ${step} leaves nothing`, async (t) => {
    const { repositories, connect, left } = await aScene();
    const { lifetimes } = repositories;
    const { noteUses } = lifetimes;
    breakIt(repositories);
    await t.rejects(connect(), { message: 'the database has gone' });
    Object.assign(lifetimes, { noteUses });
    t.same(await left(), { isUsed: false, closes: 0, registered: 0 });
  });

t.test('a connection whose container stops while it begins is closed', async (t) => {
  const { repositories, connect, feed, dbId, closes } = await aScene();
  await repositories.containers.changeState(dbId, ['creating'], { state: 'running' });
  await connect();
  t.equal(closes(), 0);
  const { ready } = feed;
  const stopFirst = async () => {
    await repositories.containers.changeState(dbId, ['running'], { state: 'stopped' });
    await ready.call(feed);
  };
  Object.assign(feed, { ready: stopFirst });
  await connect();
  t.equal(closes(), 1);
});

t.test('a connection that may have missed the end of its container is checked', async (t) => {
  const { repositories, connect, feed, state, dbId, closes } = await aScene();
  await repositories.containers.changeState(dbId, ['creating'], { state: 'running' });
  await connect();
  const loseEvents = async () => {
    for (let n = 0; n < 3; n += 1) {
      await repositories.events.append({ type: 'container_progress', dbId, ownerId: 'x', data: {} });
    }
    await feed.ready();
    Object.assign(state, { events: [], lastEvent: 0 });
    await feed.ready();
    for (let n = 0; n < 20; n += 1) await turn();
  };
  await loseEvents();
  t.equal(closes(), 0, 'the connection stays while its container runs');
  await repositories.containers.changeState(dbId, ['running'], { state: 'stopped' });
  await loseEvents();
  t.equal(closes(), 1);
});

t.test(
  'a connection ends when its container was given away meanwhile, however late that is known',
  async (t) => {
    const time = standingTime(t);
    const { storage, repositories, connect, feed, state, dbId, closes, left } = await aScene();
    const { containers, events } = repositories;
    await containers.changeState(dbId, ['creating'], { state: 'running' });
    await connect();
    await events.append({ type: 'container_progress', dbId, ownerId: 'x', data: {} });
    await feed.ready();
    const heir = await storedUser(storage);
    state.containers = state.containers.map((one) => ({ ...one, ownerId: heir.id }));
    const { findAny } = containers;
    Object.assign(containers, { findAny: fault });
    Object.assign(state, { events: [], lastEvent: 0 });
    await feed.ready();
    const pass = async (ms: number) => {
      time.pass(ms);
      for (let n = 0; n < 20; n += 1) await turn();
    };
    await pass(0);
    await pass(5_000);
    t.equal(closes(), 0);
    Object.assign(containers, { findAny });
    await pass(10_000);
    t.equal(closes(), 1);
    await left();
  },
);

t.test('an ended connection leaves nothing', async (t) => {
  const { connect, left } = await aScene();
  const connected = await connect();
  if (!connected.ok) throw new Error(connected.error.code);
  connected.value.end(7);
  t.same(await left(), { isUsed: false, closes: 0, registered: 0 });
});

t.test('a connection with all its channels leaves channels to the others of its user', async (t) => {
  const { connect, left } = await aScene();
  const opened = await Promise.all([1, 2, 3].map(() => connect()));
  const connections = opened.flatMap((one) => (one.ok ? [one.value] : []));
  const taken = connections.map((one) => {
    const releases = [];
    for (let next = one.takeChannel(); next.ok; next = one.takeChannel()) releases.push(next.value);
    return releases;
  });
  t.same(valuesOf(taken, 'length'), [10, 10, 8]);
  taken[0]?.at(-1)?.();
  t.ok(connections[2]?.takeChannel().ok, 'what one releases, another takes');
  for (const one of connections) one.end(0);
  await left();
});

t.test(
  'a container that its user does not have is on record once a minute, however often it is tried',
  async (t) => {
    const { connect, left, recorded } = await aScene();
    for (const wanted of ['hers', 'none', 'hers\u001b[2J']) {
      const connected = await connect(wanted);
      t.match(connected, { ok: true, value: { container: null } });
      if (connected.ok) connected.value.end(0);
    }
    t.match(recorded(), [['ssh_refused', { container_id: undefined, wanted: 'hers' }]]);
    t.equal(recorded().length, 1);
    await left();
  },
);
