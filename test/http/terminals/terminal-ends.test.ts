import pino from 'pino';
import t, { type Test } from 'tap';
import {
  fixedClock,
  type MemoryBus,
  memoryBusHub,
  memoryRuntime,
  memoryStorage,
} from '../../../src/adapters/memory/index.ts';
import type { StreamEnd } from '../../../src/domain/terminals/terminal-end.ts';
import { RuntimeBusy } from '../../../src/ports/containers/container-runtime.ts';
import { TerminalNotStarted } from '../../../src/ports/terminals/terminal-backend.ts';
import { terminalReplicasContract } from '../../contract/terminals/terminal-replicas.ts';
import { waitFor } from '../../support/patience.ts';
import { aCluster } from '../../support/service/cluster.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening } from '../../support/terminal/terminals.ts';

/**
 * Ada's running container, its engine container, and sockets to its terminal. `isPlayed`: by the test, not the memory
 * engine.
 */
async function aTerminalOf(t: Test, { muxed = true, isFallback = false, isPlayed = true } = {}) {
  const runtime = memoryRuntime();
  const backend = fakeTerminals({ muxed, isFallback });
  const logged: { level: number; msg: string; code?: number }[] = [];
  const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const ports = isPlayed ? { runtime, terminalBackend: backend } : { runtime };
  const service = await aService(ports, { logger });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const [box] = runtime.boxes.values();
  if (box === undefined) throw new Error('no container was made');
  const address = await listening(t, service);
  const path = `/api/containers/${dbId}`;
  return {
    service,
    runtime,
    backend,
    box,
    logged,
    open: (query: Record<string, string | number> = {}) =>
      terminalClient({ address, dbId, token: ada.token }, query),
    get: async () => (await as(service, ada)('GET', path)).json(),
    call: async (what: string, body?: object) =>
      (await as(service, ada)('POST', `${path}/${what}`, body)).json(),
  };
}
type Scene = Awaited<ReturnType<typeof aTerminalOf>>;

const exited = (code: number | null): StreamEnd => ({ kind: 'exited', code });
const noAnswer = () => Promise.reject(new Error('no answer'));

/** The container's state when its shell ends, and the resulting close. */
const ENDS: readonly {
  readonly what: string;
  readonly how: StreamEnd;
  readonly close: readonly [number, string];
  readonly meanwhile?: (scene: Scene) => void;
}[] = [
  { what: 'that is killed in a container that runs', how: exited(137), close: [1000, 'ended'] },
  {
    what: 'whose container is killed behind Berth',
    how: exited(137),
    close: [4009, 'container stopped'],
    meanwhile: ({ box }) => {
      box.startedAt = null;
    },
  },
  {
    what: 'that ends a moment before its container, which is asked to stop behind Berth',
    how: exited(129),
    close: [4009, 'container stopped'],
    meanwhile({ runtime, box }) {
      const { observe } = runtime;
      let checks = 0;
      runtime.observe = async (handle) => {
        checks += 1;
        if (checks > 2) box.startedAt = null;
        return await observe(handle);
      };
    },
  },
  { what: 'of which nobody knows how it ended', how: exited(null), close: [1011, 'failed to open terminal'] },
  {
    what: 'that is lost while neither the database nor the engine answers',
    how: { kind: 'lost' },
    close: [4013, 'detached'],
    meanwhile({ service, runtime }) {
      runtime.observe = noAnswer;
      service.ports.storage.repositories.terminals.containerStatuses = noAnswer;
    },
  },
];

for (const { what, how, close, meanwhile } of ENDS) {
  t.test(`a shell ${what} closes its terminal with ${close.join(' ')}`, async (t) => {
    const scene = await aTerminalOf(t);
    const client = await scene.open();
    meanwhile?.(scene);
    scene.backend.endsAs(how);
    scene.backend.opened[0]?.end();
    t.same(await client.closed(), close);
    const exits = client.messages.filter(({ type }) => type === 'exit');
    t.match(exits, close[1] === 'ended' ? [{ type: 'exit', code: 137 }] : []);
    t.equal(exits.length, close[1] === 'ended' ? 1 : 0, 'and no program is said to have ended else');
  });
}

t.test('a fallback shell in place of tmux says so', async (t) => {
  const { open } = await aTerminalOf(t, { isFallback: true });
  const client = await open();
  await client.until(() => client.messages.length > 1);
  t.match(client.messages, [
    { type: 'ready', mux_session: null, fallback: true },
    { type: 'notice', message: 'tmux could not start in this container: this is a plain shell' },
  ]);
});

t.test('a container paused behind Berth is stopped until a start, which resumes its programs', async (t) => {
  const { service, box, open, call, get } = await aTerminalOf(t, { isPlayed: false });
  const client = await open();
  client.socket.send(Buffer.from('typed before'));
  await client.until(() => client.output().includes('typed before'));
  box.paused = true;
  await t.rejects(open({ connection_id: 'p2' }), /4009/);
  await service.reconcile();
  t.same(await client.closed(), [4009, 'container stopped']);
  const reason = 'it was paused outside Berth: start it to resume its programs';
  t.match(await get(), { status: 'stopped', status_reason: reason });
  t.match(await call('exec', { command: ['true'] }), { code: 'container_not_running' });
  t.match(await call('start'), { message: 'container started', status: 'running' });
  t.equal(box.paused, false);
  t.match(await get(), { status: 'running', status_reason: null });
  const again = await open();
  await again.until(() => again.output().includes('typed before'));
});

t.test('stopping a paused container really stops it', async (t) => {
  const { service, box, call } = await aTerminalOf(t);
  box.paused = true;
  await service.reconcile();
  t.match(await call('stop'), { message: 'container stopped', status: 'stopped' });
  t.match([box.paused, box.startedAt], [false, null]);
});

for (const muxed of [true, false]) {
  const image = muxed ? 'with tmux' : 'without tmux';
  t.test(`a broken stream does not end its program, and is not shown again: ${image}`, async (t) => {
    const { backend, open } = await aTerminalOf(t, { muxed });
    const first = await open();
    backend.opened[0]?.say('so far');
    await first.until(() => first.output().length > 0);
    first.socket.send(Buffer.from('typed'), { binary: true });
    await first.until(() => backend.opened[0]?.typed() === 'typed');
    backend.endsAs({ kind: 'lost' });
    backend.opened[0]?.end();
    t.same(await first.closed(), [4013, 'detached']);
    const ack = { type: 'ack', input_offset: 5 };
    t.match(first.messages.at(-1), ack, 'what was taken is said before the close');
    t.notOk(first.messages.some(({ type }) => type === 'exit'));
    const again = await open({ stream: first.ready.stream, after: first.output().length });
    t.not(again.ready.stream, first.ready.stream);
    t.equal(again.ready.redraw, true);
    backend.opened[1]?.say('goes on');
    await again.until(() => again.output().toString() === 'goes on');
    t.same(backend.killed, [], 'the session is not ended for that');
  });
}

t.test('a pane whose engine is away outlives the attempts to return to it', async (t) => {
  const { service, backend, open } = await aTerminalOf(t);
  const pane = { connection_id: 'p2' };
  const first = await open(pane);
  backend.endsAs({ kind: 'lost' });
  backend.opened[0]?.end();
  t.same(await first.closed(), [4013, 'detached']);
  const { open: opens, killMuxSession } = backend;
  const away = () => Promise.reject(new Error('the engine does not answer'));
  Object.assign(backend, { open: away, killMuxSession: away });
  await t.rejects(open(pane), /1011,failed to open terminal/);
  await t.rejects(open(pane), /1011,failed to open terminal/);
  Object.assign(backend, { open: opens, killMuxSession });
  await service.terminals.idle();
  t.same(backend.killed, [], 'a failed attempt does not end the session');
  const again = await open(pane);
  await waitFor(() => backend.closed.includes('pane-p2'));
  await service.terminals.idle();
  t.same(backend.killed, [], 'nor does the end of the broken stream');
  again.socket.close(1000);
  await waitFor(() => backend.killed.length > 0);
  t.same(backend.killed, ['pane-p2'], 'its client ends it');
});

t.test('a terminal that cannot open says why', async (t) => {
  const { backend, box, open, logged } = await aTerminalOf(t);
  const { open: opens } = backend;
  const failsWith = (error: Error): void => {
    backend.open = async () => {
      throw error;
    };
  };
  for (const [error, close] of [
    [new TerminalNotStarted('no_processes'), /4014,too many processes/],
    [new RuntimeBusy('container_unresponsive', 5), /container unresponsive/],
    [new RuntimeBusy('engine_busy', 5), /1011,failed to open terminal/],
    [new TerminalNotStarted('other'), /1011,failed to open terminal/],
  ] as const) {
    failsWith(error);
    await t.rejects(open(), close, error.message);
  }
  box.startedAt = null;
  await t.rejects(open(), /4009,container stopped/, 'its container has stopped behind Berth');
  box.startedAt = new Date();
  backend.open = opens;
  t.match((await open()).ready, { type: 'ready' }, 'and opens as soon as it can');
  const { info, error } = pino.levels.values;
  const levels = logged.filter(({ msg }) => msg === 'terminal did not open').map(({ level }) => level);
  t.same(
    levels,
    [info, info, error, error, info],
    'a container that is full or down is no fault of the service',
  );
});

terminalReplicasContract(t, (t) => aCluster(t));

/** Two processes; the second gets no messages until `restore`. */
async function withDeafOne(t: Test) {
  const clock = fixedClock();
  let nowMs = 0;
  const hub = memoryBusHub();
  const lines: MemoryBus[] = [];
  const bus = () => {
    const line = hub.join();
    lines.push(line);
    return line;
  };
  const shared = { clock, storage: memoryStorage(clock), bus, monotonicMs: () => nowMs };
  const cluster = await aCluster(t, shared);
  lines[1]?.cut();
  return {
    ...cluster,
    restore: () => lines[1]?.reconnect(),
    /** Five seconds pass for it. */
    recheck: async () => {
      nowMs += 5_000;
      await cluster.there.writeDue();
    },
  };
}

t.test('the regular check finds a close without a message', async (t) => {
  const { here, root, ada, dbId, open, addresses, recheck } = await withDeafOne(t);
  const list = '/api/admin/terminals';
  const closed = await open(ada, 'closed', addresses[1]);
  const closing = as(here, root)(
    'DELETE',
    `${list}/${(await as(here, root)('GET', list)).json().terminals[0].id}`,
  );
  const taken = await open(ada, 'taken', addresses[1]);
  await open(ada, 'taken');
  const stopped = await open(ada, 'stopped', addresses[1]);
  t.ok(await taken.alive());
  await recheck();
  t.same(await closed.closed(), [4001, 'unauthorized']);
  t.equal((await closing).statusCode, 200);
  t.same(await taken.closed(), [1000, 'replaced']);
  await as(here, ada)('POST', `/api/containers/${dbId}/stop`);
  t.ok(await stopped.alive());
  await recheck();
  t.same(await stopped.closed(), [4009, 'container stopped']);
});

t.test('a close without a message is found when the listener is back', async (t) => {
  const { here, ada, dbId, open, addresses, restore } = await withDeafOne(t);
  const far = await open(ada, 'main', addresses[1]);
  await as(here, ada)('DELETE', `/api/containers/${dbId}`);
  t.ok(await far.alive());
  restore();
  t.same(await far.closed(), [4004, 'container deleted']);
});

t.test("a program that ends with its container gets the container's reason", async (t) => {
  const { here, ada, dbId, backend, open, addresses } = await withDeafOne(t);
  const far = await open(ada, 'main', addresses[1]);
  const near = await open(ada, 'pane2');
  await as(here, ada)('POST', `/api/containers/${dbId}/stop`);
  t.same(await near.closed(), [4009, 'container stopped']);
  backend.opened[0]?.end();
  t.same(await far.closed(), [4009, 'container stopped'], 'whether or not it has heard of the stop');
});

t.test("a pane shown by another process does not end with this one's connection", async (t) => {
  const { here, there, ada, backend, open, addresses } = await withDeafOne(t);
  const far = await open(ada, 'pane2', addresses[1]);
  const near = await open(ada, 'pane2');
  far.socket.close(1000);
  await waitFor(() => backend.opened[0]?.stream.destroyed === true);
  await there.terminals.idle();
  t.same(backend.killed, []);
  near.socket.close(1000);
  await waitFor(() => backend.killed.length === 1);
  await here.terminals.idle();
  t.same(backend.killed, ['pane-pane2']);
});

t.test('a late message closes nothing opened since', async (t) => {
  const { here, there, ada, dbId, open, addresses, restore } = await withDeafOne(t);
  const call = as(here, ada);
  for (const what of ['stop', 'start']) await call('POST', `/api/containers/${dbId}/${what}`);
  const far = await open(ada, 'main', addresses[1]);
  restore();
  t.ok(await far.alive());
  t.equal((await as(there, ada)('GET', `/api/containers/${dbId}`)).json().status, 'running');
});
