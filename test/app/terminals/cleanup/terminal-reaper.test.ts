import t, { type Test } from 'tap';
import {
  fixedClock,
  memoryPorts,
  memoryRuntime,
  memoryTerminals,
} from '../../../../src/adapters/memory/index.ts';
import { CLOSE } from '../../../../src/domain/terminals/terminal.ts';
import type { Leftovers } from '../../../../src/domain/terminals/terminal-reaping.ts';
import { RuntimeFailure } from '../../../../src/ports/containers/container-runtime.ts';
import { aTerminal } from '../../../contract/terminals/terminal-backend.ts';
import { aPerson, aService, as, stateOf } from '../../../support/service/service.ts';
import { aContainerOf, listening, openTerminal } from '../../../support/terminal/terminals.ts';

/** Two processes on one storage and one engine, one of which dies silently. */
async function aScene(t: Test) {
  const clock = fixedClock();
  const runtime = memoryRuntime();
  const backend = memoryTerminals(runtime);
  const { storage } = memoryPorts(clock);
  const shared = { clock, runtime, storage, terminalBackend: backend };
  const monotonicMs = (): number => clock.now().getTime();
  const start = (replica: string, ports: { terminalBackend?: typeof backend } = {}) =>
    aService({ ...shared, monotonicMs, ...ports }, { replica });
  const victim = await start('11111111-1111-4111-8111-111111111111');
  const other = await start('22222222-2222-4222-8222-222222222222');
  const ada = await aPerson(victim, 'ada');
  const dbId = await aContainerOf(victim, ada);
  const address = await listening(t, victim);
  const { id: runtimeId } = (await as(victim, ada)('GET', `/api/containers/${dbId}`)).json();
  const handle = { node: 'memory', runtimeId };
  const box = runtime.boxes.get(runtimeId);
  if (box === undefined) throw new Error('no container was made');
  return {
    runtime,
    box,
    call: (what: string) => as(victim, ada)('POST', `/api/containers/${dbId}/${what}`),
    leases: () => storage.repositories.terminalLeases.inContainer(dbId),
    victim,
    other,
    ada,
    dbId,
    backend,
    handle,
    start,
    open: (pane: string) => openTerminal(address, dbId, ada, pane),
    left: () => backend.leftovers(handle),
    /** Time passes, with the live ones renewing. */
    pass: async (seconds: number, ...alive: (typeof other)[]) => {
      for (let gone = 0; gone < seconds; gone += 15) {
        clock.advance(15_000);
        for (const one of alive) await one.writeDue();
      }
      for (const one of alive) await one.reapTerminals();
    },
  };
}

t.test("another process ends a dead one's leftovers, except the main session", async (t) => {
  const { victim, other, open, left, pass, handle, dbId } = await aScene(t);
  await open('main');
  await open('pane2');
  t.match((await left()).sessions, ['main', 'pane-pane2']);
  await pass(300, victim, other);
  t.equal((await left()).marks.length, 2, 'not while its process lives');
  await pass(75, other);
  t.equal((await left()).marks.length, 2, 'nor while it may');
  await pass(15, other);
  t.same(await left(), { sessions: ['main'], marks: [] });
  await pass(15, other);
  const { terminalLeases } = other.ports.storage.repositories;
  t.same(await terminalLeases.inContainer(dbId), [], 'and nothing is remembered of it');
  t.ok(handle);
});

t.test("a replica's next run ends old programs at once, and sessions nobody returns to", async (t) => {
  const { victim, start, open, left, pass } = await aScene(t);
  await open('pane2');
  await pass(15, victim);
  const next = await start('11111111-1111-4111-8111-111111111111');
  await next.reapTerminals();
  t.same(await left(), { sessions: ['pane-pane2'], marks: [] });
  await pass(60, next);
  t.same((await left()).sessions, ['pane-pane2']);
  await pass(30, next);
  t.same((await left()).sessions, []);
});

t.test('after an outage no process counts as dead', async (t) => {
  const { victim, other, open, left, pass } = await aScene(t);
  await open('pane2');
  await pass(300);
  await other.writeDue();
  await other.reapTerminals();
  t.equal((await left()).marks.length, 1, 'the others have had no time to say that they live');
  await pass(15, victim, other);
  await pass(300, victim, other);
  t.equal((await left()).marks.length, 1);
});

t.test('leftovers without a row end too', async (t) => {
  const { other, backend, handle, left, pass } = await aScene(t);
  const marker = '99999999-9999-4999-8999-999999999999';
  await backend.open(handle, aTerminal('pane-stray', { marker }));
  await backend.open(handle, aTerminal('main', { marker }));
  await pass(60, other);
  t.same(await left(), { sessions: ['main'], marks: [] });
});

t.test('no leases are read for a container without leftovers', async (t) => {
  const { other, backend, handle, pass } = await aScene(t);
  const { terminalLeases } = other.ports.storage.repositories;
  const { inContainer } = terminalLeases;
  const read: string[] = [];
  terminalLeases.inContainer = async (dbId) => {
    read.push(dbId);
    return await inContainer(dbId);
  };
  const looked: string[] = [];
  const { leftovers } = backend;
  backend.leftovers = async (asked) => {
    looked.push(asked.runtimeId);
    return await leftovers(asked);
  };
  await pass(60, other);
  t.same([looked, read], [[handle.runtimeId], []]);
});

t.test('live processes share the search of all containers', async (t) => {
  const { victim, other, ada, backend, handle, pass } = await aScene(t);
  for (const name of ['two', 'three'])
    t.equal((await as(victim, ada)('POST', '/api/containers', { name })).statusCode, 201);
  const looked: string[] = [];
  const { leftovers } = backend;
  backend.leftovers = async (asked) => {
    looked.push(asked.runtimeId);
    return await leftovers(asked);
  };
  await pass(60, victim, other);
  t.equal(looked.length, 6, 'each process searches all of them when it has started');
  looked.length = 0;
  await pass(600, victim, other);
  t.same([looked.length, new Set(looked).size], [3, 3], 'then each container is searched once');
  looked.length = 0;
  await pass(600, other);
  t.equal(looked.length, 3, 'by one process, when it is the only one');
  t.ok(looked.includes(handle.runtimeId));
});

/** Five containers, and a process whose backend can be cut off; `looked`: what it has searched. */
async function withCutOff({ backend, start, victim, ada, runtime }: Awaited<ReturnType<typeof aScene>>) {
  for (const name of ['two', 'three', 'four', 'five'])
    t.equal((await as(victim, ada)('POST', '/api/containers', { name })).statusCode, 201);
  const looked: string[] = [];
  const engine = { isAway: true };
  const cut: typeof backend = {
    ...backend,
    leftovers: async (handle) => {
      if (engine.isAway) throw new Error('no engine');
      looked.push(handle.runtimeId);
      return await backend.leftovers(handle);
    },
  };
  const late = await start('33333333-3333-4333-8333-333333333333', { terminalBackend: cut });
  const handles = [...runtime.boxes.keys()].map((runtimeId) => ({ node: 'memory', runtimeId }));
  return { late, looked, engine, handles };
}

const STRAY = '99999999-9999-4999-8999-999999999999';

t.test('what a first search has missed is in the next one', async (t) => {
  const scene = await aScene(t);
  const { victim, other, pass } = scene;
  const { late, looked, engine } = await withCutOff(scene);
  const { containers } = late.ports.storage.repositories;
  const { listAllLive } = containers;
  containers.listAllLive = async () => {
    throw new Error('no database');
  };
  await t.rejects(pass(60, late));
  containers.listAllLive = listAllLive;
  await pass(15, victim, other, late);
  engine.isAway = false;
  await pass(600, victim, other, late);
  t.equal(new Set(looked).size, 5, 'and not its share alone');
});

t.test(
  'what a process without an engine leaves unsearched is searched by another the next time',
  async (t) => {
    const scene = await aScene(t);
    const { backend, pass, victim } = scene;
    const { late, handles } = await withCutOff(scene);
    await pass(60, victim, late);
    for (const handle of handles) await backend.open(handle, aTerminal('pane-stray', { marker: STRAY }));
    for (let at = 0; at < 2; at += 1) await pass(600, victim, late);
    for (const handle of handles) t.same(await backend.leftovers(handle), { sessions: [], marks: [] });
  },
);

t.test('a stopping service leaves a pane to its returning client, even while it reaps', async (t) => {
  const { victim, open, left } = await aScene(t);
  await open('main');
  await open('pane2');
  victim.terminals.closeEverything(CLOSE.serviceRestarting);
  await victim.terminals.idle();
  await victim.reapTerminals();
  t.match((await left()).sessions, ['main', 'pane-pane2']);
});

t.test('a stopping service does not wait for unchecked containers', async (t) => {
  const { other, open, left, pass } = await aScene(t);
  await open('pane2');
  other.drain();
  await pass(90, other);
  t.match((await left()).sessions, ['pane-pane2']);
});

t.test('a session that cannot be ended does not block others', async (t) => {
  const { other, backend, handle, left, pass } = await aScene(t);
  const { killMuxSession } = backend;
  Object.assign(backend, {
    killMuxSession: async (...asked: Parameters<typeof killMuxSession>) => {
      if (asked[1] === 'pane-stuck') throw new Error('a session did not end in time');
      await killMuxSession(...asked);
    },
  });
  const marker = '99999999-9999-4999-8999-999999999999';
  for (const session of ['pane-stuck', 'pane-stray', 'main'])
    await backend.open(handle, aTerminal(session, { marker }));
  await pass(60, other);
  t.same(await left(), { sessions: ['pane-stuck', 'main'], marks: [] });
  Object.assign(backend, { killMuxSession });
  await pass(600, other);
  t.same((await left()).sessions, ['main'], 'and is ended by a later pass');
});

/** What was asked of a container whose programs report these leftovers. */
async function askedOf(scene: Awaited<ReturnType<typeof aScene>>, leftovers: Leftovers) {
  const asked: string[] = [];
  Object.assign(scene.backend, {
    leftovers: async () => leftovers,
    killMuxSession: async (_handle: unknown, session: string) => void asked.push(session),
    endMarked: async (_handle: unknown, mark: string) => void asked.push(mark),
  });
  await scene.pass(600, scene.other);
  return asked;
}

const invented = (count: number): string[] => Array.from({ length: count }, (_, at) => `pane-${at}`);

t.test('of a list that is too long to be true only what was opened here is ended', async (t) => {
  const scene = await aScene(t);
  await scene.open('pane2');
  const [mark = ''] = (await scene.left()).marks;
  const asked = await askedOf(scene, { sessions: [...invented(100_000), 'pane-pane2'], marks: [mark] });
  t.same(new Set(asked), new Set(['pane-pane2', mark]));
});

t.test(
  'a pass ends a limited number of leftovers in a container, first those that were opened here',
  async (t) => {
    const scene = await aScene(t);
    await scene.open('pane2');
    const asked = await askedOf(scene, { sessions: [...invented(900), 'pane-pane2'], marks: [] });
    t.equal(asked[0], 'pane-pane2');
    t.equal(asked.length, 50);
  },
);

t.test("a paused container's leftovers stay on record, and end when it resumes", async (t) => {
  const { victim, box, call, open, left, leases, pass } = await aScene(t);
  await pass(60, victim);
  await open('main');
  await open('pane2');
  box.paused = true;
  await victim.reconcile();
  await victim.terminals.idle();
  await pass(30, victim);
  t.equal((await leases()).length, 2);
  t.equal((await call('start')).statusCode, 200);
  await pass(30, victim);
  t.same(await left(), { sessions: ['main'], marks: [] });
  await pass(30, victim);
  t.same(await leases(), []);
});

t.test('a pane whose client returned after a pause continues', async (t) => {
  const { victim, box, call, open, left, pass } = await aScene(t);
  await pass(60, victim);
  await open('pane2');
  box.paused = true;
  await victim.reconcile();
  await call('start');
  await open('pane2');
  await pass(30, victim);
  const { sessions, marks } = await left();
  t.same([sessions, marks.length], [['pane-pane2'], 1]);
});

t.test('a failed stop loses no program', async (t) => {
  const { victim, runtime, call, open, left, pass } = await aScene(t);
  await pass(60, victim);
  await open('main');
  await open('pane2');
  const { stop } = runtime;
  runtime.stop = async () => {
    throw new RuntimeFailure('it could not be stopped');
  };
  t.equal((await call('stop')).statusCode, 500);
  runtime.stop = stop;
  await victim.terminals.idle();
  t.equal((await left()).marks.length, 2);
  await pass(30, victim);
  t.same(await left(), { sessions: ['main'], marks: [] });
});

t.test('terminals that ended with their container leave no record', async (t) => {
  const { victim, call, open, leases, pass } = await aScene(t);
  await open('pane2');
  t.equal((await call('stop')).statusCode, 200);
  await victim.terminals.idle();
  await pass(30, victim);
  t.same(await leases(), []);
});

t.test('a container without a row leaves no record', async (t) => {
  const { victim, other, open, leases, pass } = await aScene(t);
  await open('pane2');
  await pass(90, victim, other);
  t.equal((await leases()).length, 1);
  const state = stateOf(other);
  state.containers = [];
  await pass(90, other);
  t.same(await leases(), []);
});
