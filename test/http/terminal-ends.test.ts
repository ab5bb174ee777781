import pino from 'pino';
import t, { type Test } from 'tap';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import { TerminalNotStarted } from '../../src/ports/terminal-backend.ts';
import { aPerson, aService, as } from '../support/service/service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';
import { aContainerOf, fakeTerminals, listening } from '../support/terminal/terminals.ts';

/** A running container, its box in the engine, and sockets to its terminal. */
async function aTerminalOf(t: Test, { muxed = true, isFallback = false } = {}) {
  const runtime = memoryRuntime();
  const backend = fakeTerminals({ muxed, isFallback });
  const logged: { level: number; msg: string; code?: number }[] = [];
  const logger = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) });
  const service = await aService({ runtime, terminalBackend: backend }, { logger });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const [box] = runtime.boxes.values();
  if (box === undefined) throw new Error('no container was made');
  const address = await listening(t, service);
  const open = (query: Record<string, string | number> = {}) =>
    terminalClient({ address, dbId, token: ada.token }, query);
  const call = async (what: string) =>
    (await as(service, ada)('POST', `/api/containers/${dbId}/${what}`)).json();
  return { service, runtime, backend, box, open, call, logged };
}

t.test('a container that is killed behind Berth ends no program: it has stopped', async (t) => {
  const { backend, box, open } = await aTerminalOf(t);
  const client = await open();
  box.startedAt = null;
  backend.endsAs({ kind: 'exited', code: 137 });
  backend.opened[0]?.end();
  t.same(await client.closed(), [4009, 'container stopped']);
  t.notOk(client.messages.some(({ type }) => type === 'exit'));
});

t.test('a plain shell that stands in for tmux says so', async (t) => {
  const { open } = await aTerminalOf(t, { isFallback: true });
  const client = await open();
  await client.until(() => client.messages.length > 1);
  t.match(client.messages, [
    { type: 'ready', mux_session: null, fallback: true },
    { type: 'notice', message: 'tmux could not start in this container: this is a plain shell' },
  ]);
});

t.test('a shell that is gone at once, and nobody knows how, was not opened', async (t) => {
  const { backend, open } = await aTerminalOf(t);
  const client = await open();
  backend.endsAs({ kind: 'exited', code: null });
  backend.opened[0]?.end();
  t.same(await client.closed(), [1011, 'failed to open terminal']);
  t.notOk(client.messages.some(({ type }) => type === 'exit'));
});

t.test('one that is asked to stop behind Berth ends its shells a moment before itself', async (t) => {
  const { runtime, backend, box, open } = await aTerminalOf(t);
  const client = await open();
  const { observe } = runtime;
  let looks = 0;
  runtime.observe = async (handle) => {
    looks += 1;
    if (looks > 2) box.startedAt = null;
    return await observe(handle);
  };
  backend.endsAs({ kind: 'exited', code: 129 });
  backend.opened[0]?.end();
  t.same(await client.closed(), [4009, 'container stopped']);
});

t.test(
  'a container that is paused behind Berth is stopped until a start, and its programs go on',
  async (t) => {
    const runtime = memoryRuntime();
    const service = await aService({ runtime });
    const ada = await aPerson(service, 'ada');
    const dbId = await aContainerOf(service, ada);
    const [box] = runtime.boxes.values();
    if (box === undefined) throw new Error('no container was made');
    const address = await listening(t, service);
    const open = () => terminalClient({ address, dbId, token: ada.token });
    const call = as(service, ada);
    const client = await open();
    client.socket.send(Buffer.from('typed before'));
    await client.until(() => client.output().includes('typed before'));
    box.paused = true;
    await t.rejects(terminalClient({ address, dbId, token: ada.token }, { connection_id: 'p2' }), /4009/);
    await service.reconcile();
    t.same(await client.closed(), [4009, 'container stopped']);
    t.match((await call('GET', `/api/containers/${dbId}`)).json(), {
      status: 'stopped',
      status_reason: 'it was paused outside Berth: start it to resume its programs',
    });
    const exec = await call('POST', `/api/containers/${dbId}/exec`, { command: ['true'] });
    t.match([exec.statusCode, exec.json().code], [409, 'container_not_running']);
    t.match((await call('POST', `/api/containers/${dbId}/start`)).json(), {
      message: 'container started',
      status: 'running',
    });
    t.equal(box.paused, false);
    t.match((await call('GET', `/api/containers/${dbId}`)).json(), {
      status: 'running',
      status_reason: null,
    });
    const again = await open();
    await again.until(() => again.output().includes('typed before'));
  },
);

t.test('stopping what is paused really stops it', async (t) => {
  const { service, box, ...rest } = await aTerminalOf(t);
  box.paused = true;
  await service.reconcile();
  t.match(await rest.call('stop'), { message: 'container stopped', status: 'stopped' });
  t.match([box.paused, box.startedAt], [false, null]);
});

t.test('a shell that is killed in a container that runs has ended', async (t) => {
  const { backend, open } = await aTerminalOf(t);
  const client = await open();
  backend.endsAs({ kind: 'exited', code: 137 });
  backend.opened[0]?.end();
  t.same(await client.closed(), [1000, 'ended']);
  t.match(client.messages.at(-1), { type: 'exit', code: 137 });
});

for (const muxed of [true, false]) {
  const image = muxed ? 'with tmux' : 'without tmux';
  t.test(`a stream that breaks is no end of the program, and is not shown again: ${image}`, async (t) => {
    const { backend, open } = await aTerminalOf(t, { muxed });
    const first = await open();
    backend.opened[0]?.say('so far');
    await first.until(() => first.output().length > 0);
    first.socket.send(Buffer.from('typed'), { binary: true });
    await first.until(() => backend.opened[0]?.typed() === 'typed');
    backend.endsAs({ kind: 'lost' });
    backend.opened[0]?.end();
    t.same(await first.closed(), [4013, 'detached']);
    t.match(
      first.messages.at(-1),
      { type: 'ack', input_offset: 5 },
      'what was taken is said before the close',
    );
    t.notOk(first.messages.some(({ type }) => type === 'exit'));
    const again = await open({ stream: first.ready.stream, after: first.output().length });
    t.not(again.ready.stream, first.ready.stream);
    t.equal(again.ready.redraw, true);
    backend.opened[1]?.say('goes on');
    await again.until(() => again.output().toString() === 'goes on');
    t.same(backend.killed, [], 'the session is not ended for that');
  });
}

t.test('while neither the database nor the engine answers, no program is said to have ended', async (t) => {
  const { service, runtime, backend, open } = await aTerminalOf(t);
  const client = await open();
  const noAnswer = async () => {
    throw new Error('no answer');
  };
  runtime.observe = noAnswer;
  service.ports.storage.repositories.terminals.places = noAnswer;
  backend.endsAs({ kind: 'lost' });
  backend.opened[0]?.end();
  t.same(await client.closed(), [4013, 'detached']);
});

t.test('a terminal that cannot be opened says why', async (t) => {
  const { backend, box, open, logged } = await aTerminalOf(t);
  const { open: opens } = backend;
  const failsWith = (error: Error): void => {
    backend.open = async () => {
      throw error;
    };
  };
  failsWith(new TerminalNotStarted('no_processes'));
  await t.rejects(open(), /4014,too many processes/);
  failsWith(new TerminalNotStarted('other'));
  await t.rejects(open(), /1011,failed to open terminal/);
  box.startedAt = null;
  await t.rejects(open(), /4009,container stopped/, 'its container has stopped behind Berth');
  box.startedAt = new Date();
  backend.open = opens;
  t.match((await open()).ready, { type: 'ready' }, 'and opens as soon as it can');
  const { info, error } = pino.levels.values;
  const levels = logged.filter(({ msg }) => msg === 'terminal did not open').map(({ level }) => level);
  t.same(levels, [info, error, info], 'a container that is full or down is no fault of the service');
});
