import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import t, { type Test } from 'tap';
import { dockerAt, engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { type ExecState, processStarts } from '../../../../src/adapters/docker/engine/process-starts.ts';
import { openExec } from '../../../../src/adapters/docker/exec/exec-stream.ts';
import { portOf } from '../../../support/listen.ts';
import { waitFor } from '../../../support/patience.ts';

const BOX = 'a'.repeat(64);
const ANSWERS: Record<ExecState, object> = {
  created: { Running: false, Pid: 0, ExitCode: null },
  starting: { Running: true, Pid: 0, ExitCode: null },
  running: { Running: true, Pid: 7, ExitCode: null },
  ended: { Running: false, Pid: 7, ExitCode: 0 },
};

/** An engine with one container and at most one exec in it, and two processes of Berth that use it. */
async function anEngine(t: Test) {
  const engine = { exec: null as ExecState | null, requests: [] as string[] };
  const sockets: Socket[] = [];
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '';
    response.setHeader('content-type', 'application/json');
    if (path.endsWith('/_ping')) return void response.end('OK');
    engine.requests.push(path.replace(BOX, 'box').replace(/^.*?(?=\/(containers|exec)\/)/, ''));
    if (path.endsWith(`/${BOX}/json`))
      return void response.end(JSON.stringify({ ExecIDs: engine.exec === null ? null : ['one'] }));
    if (path.endsWith('/exec/one/json'))
      return void response.end(JSON.stringify(ANSWERS[engine.exec ?? 'ended']));
    if (path.endsWith('/pause')) return void response.writeHead(204).end();
    engine.exec = 'created';
    response.writeHead(201).end('{"Id":"one"}');
  });
  server.on('upgrade', (request, socket: Socket) => {
    engine.requests.push(request.url ?? '');
    engine.exec = 'starting';
    sockets.push(socket.on('error', () => {}));
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
  });
  const port = await portOf(t, server);
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  const aProcess = () => engineCalls(dockerAt({ host: '127.0.0.1', port, tls: null }));
  const [first, second] = [aProcess(), aProcess()];
  const pause = () =>
    first.pause(BOX, 5, (abortSignal) => first.docker.getContainer(BOX).pause({ abortSignal }));
  const start = () => openExec(second, BOX, { command: ['true'], env: {}, tty: false, stdin: false });
  const asked = (what: RegExp): number => engine.requests.filter((path) => what.test(path)).length;
  return { engine, second, pause, start, asked };
}

t.test('a pause waits for a process that another process of Berth starts', async (t) => {
  for (const state of ['created', 'starting'] as const) {
    const { engine, pause, asked } = await anEngine(t);
    engine.exec = state;
    const pausing = pause();
    await waitFor(() => asked(/exec\/one\/json/) > 1 || asked(/pause/) > 0);
    t.equal(asked(/pause/), 0, `not while it is ${state}`);
    engine.exec = 'running';
    await pausing;
    t.equal(asked(/pause/), 1);
  }
});

t.test('running and ended processes delay no pause', async (t) => {
  for (const state of ['running', 'ended', null] as const) {
    const { engine, pause, asked } = await anEngine(t);
    engine.exec = state;
    await pause();
    t.equal(asked(/exec\/one\/json/), state === null ? 0 : 1);
  }
});

t.test('an exec that nobody starts delays a pause for a moment only', async (t) => {
  const states: ExecState[] = ['created', 'created', 'starting', 'running'];
  const seen: ExecState[] = [];
  const stateOf = async (): Promise<ExecState> => {
    seen.push(states.shift() ?? 'created');
    return seen.at(-1) ?? 'created';
  };
  const { pause } = processStarts({ execsOf: async () => ['one'], stateOf }, 200);
  await pause(BOX, async () => {});
  t.same(seen, ['created', 'created', 'starting', 'running'], 'a late start is awaited');
  seen.length = 0;
  await pause(BOX, async () => {});
  t.ok(seen.length > 1);
  t.same(new Set(seen), new Set(['created']));
});

t.test('nothing starts while another process of Berth pauses the container', async (t) => {
  const { engine, second, start, asked } = await anEngine(t);
  second.heedPauses(async (runtimeId) => {
    t.equal(runtimeId, BOX);
    t.equal(engine.exec, 'created', 'the exec is made first, so that whoever pauses sees it');
    return true;
  });
  await t.rejects(start(), { name: 'ContainerPaused' });
  t.equal(asked(/start/), 0);
  second.heedPauses(async () => false);
  (await start()).stream.destroy();
  t.equal(asked(/start/), 1);
});

t.test('a start goes on when nobody can say whether there is a pause', async (t) => {
  const { second, start, asked } = await anEngine(t);
  second.heedPauses(async () => {
    throw new Error('no database');
  });
  (await start()).stream.destroy();
  second.heedPauses(() => new Promise(() => {}));
  (await start()).stream.destroy();
  t.equal(asked(/start/), 2);
});
