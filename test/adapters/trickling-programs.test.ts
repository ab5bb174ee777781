import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { engineCalls } from '../../src/adapters/docker/engine/engine-client.ts';
import { layerChanges } from '../../src/adapters/docker/insight/layer-changes.ts';
import { readLoad } from '../../src/adapters/kubernetes/insight/container-load.ts';
import { startScript } from '../../src/adapters/scripts/exec/script-process.ts';
import { cpuSeenInside } from '../../src/adapters/scripts/insight/cpu-usage.ts';
import { diskBytes } from '../../src/adapters/scripts/insight/disk-usage.ts';
import type { ContainerPrograms } from '../../src/ports/containers/inside/container-programs.ts';
import { dockerOf, frame } from '../support/engine/printing-engine.ts';
import { waitFor } from '../support/patience.ts';
import { standingTime } from '../support/time.ts';

type Program = Awaited<ReturnType<ContainerPrograms['start']>>;

/** Ample for a slow measurement, and the end of its program. */
const MOST_SECONDS = 150;

const programOf = (stream: PassThrough): Program => ({
  stream,
  async *output() {
    for await (const data of stream) yield { stream: 'stdout', data };
  },
  exitCode: async () => null,
  isRunning: async () => true,
  resize: async () => {},
});

/** In a container whose user has put a program in the place of the shell, which prints a byte every second. */
const trickling: Pick<ContainerPrograms, 'start'> = {
  async start() {
    const stream = new PassThrough();
    const timer = setInterval(() => stream.write('1'), 1_000);
    stream.on('close', () => clearInterval(timer));
    return programOf(stream);
  },
};

/** What the work comes to within that time of such output. */
async function outcomeOf(
  time: ReturnType<typeof standingTime>,
  work: () => Promise<unknown>,
): Promise<unknown> {
  let outcome: unknown = 'none in time';
  let hasEnded = false;
  const settle = (value: unknown): void => {
    outcome = value;
    hasEnded = true;
  };
  void work().then(settle, settle);
  for (let left = MOST_SECONDS; left > 0 && !hasEnded; left -= 1) {
    time.pass(1_000);
    for (let turns = 0; turns < 5; turns += 1) await turn();
  }
  return outcome;
}

t.test('a line that never ends is given up in time', async (t) => {
  const time = standingTime(t);
  const run = await startScript(trickling, 'one', { script: 'true', args: [] });
  t.match(await outcomeOf(time, () => run.line()), { message: /did not answer within 60 s/ });
});

t.test('what a program did is unknown when its answer never ends', async (t) => {
  const time = standingTime(t);
  const run = await startScript(trickling, 'one', { script: 'true', args: [] });
  t.match(await outcomeOf(time, () => run.outcome(30)), { message: /did not say what it did/ });
});

t.test('a measurement that never ends is given up in time', async (t) => {
  const time = standingTime(t);
  t.equal(await outcomeOf(time, () => diskBytes(trickling, 'one')), null);
  t.match(await outcomeOf(time, () => cpuSeenInside(trickling, 'one')), { message: /within 5 s/ });
  t.match(await outcomeOf(time, () => readLoad(trickling, 'one', undefined)), {
    name: 'LoadUnknown',
    message: /within 5 s/,
  });
});

/** The first program prints what `print` writes, and its end nothing. */
function printing(print: (stream: PassThrough) => void): Pick<ContainerPrograms, 'start'> {
  let write = print;
  return {
    async start() {
      const stream = new PassThrough();
      write(stream);
      write = (end) => void end.end();
      return programOf(stream);
    },
  };
}

t.test('a slow measurement is awaited by a pass', async (t) => {
  const time = standingTime(t);
  const slow = printing((stream) => void setTimeout(() => stream.end('40\n'), 60_000));
  t.equal(await outcomeOf(time, () => diskBytes(slow, 'one')), 40 * 1024);
});

t.test('a request does not wait for a slow measurement', async (t) => {
  const time = standingTime(t);
  const slow = printing((stream) => void setTimeout(() => stream.end('40\n'), 60_000));
  t.equal(await outcomeOf(time, () => diskBytes(slow, 'one', 20)), null);
  t.ok(time.nowMs() < 30_000);
});

t.test('a measurement whose connection breaks is a fault', async (t) => {
  const broken = printing((stream) => void stream.destroy(new Error('connection reset')));
  await t.rejects(diskBytes(broken, 'one'), { message: 'connection reset' });
});

const CHANGES = '[{"Path":"/opt/tool","Kind":1},{"Path":"/opt/more","Kind":1}]';

/** An engine with a container of which two paths have changed, and whose programs print a byte every second. */
async function aTricklingEngine(t: Test, first: string) {
  const begun = Promise.withResolvers<void>();
  const sockets: Socket[] = [];
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    const path = request.url ?? '';
    if (path.endsWith('/_ping')) response.end('OK');
    else if (path.includes('/changes')) response.end(CHANGES);
    else if (path.includes('/containers/one/json')) response.end('{"State":{"Running":true}}');
    else if (path.endsWith('/json')) response.end('{"Running":true}');
    else response.writeHead(201).end('{"Id":"two"}');
  });
  server.on('upgrade', (_request, socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
    if (first !== '') socket.write(frame(1, first));
    const timer = setInterval(() => socket.write(frame(1, '1')), 1_000);
    socket.on('close', () => clearInterval(timer));
    begun.resolve();
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { calls: engineCalls(await dockerOf(t, server)), begun: begun.promise };
}

/** The changes of its container, as they are listed in the end. */
async function changesIn(t: Test, first: string): Promise<unknown> {
  const time = standingTime(t);
  const { calls, begun } = await aTricklingEngine(t, first);
  let changes: unknown = null;
  const listing = layerChanges(calls, 'one').then((listed) => {
    changes = listed;
  });
  await begun;
  await waitFor(() => {
    time.pass(1_000);
    return changes !== null;
  });
  await listing;
  return changes;
}

t.test('the changes of a container are listed without sizes that never come', async (t) => {
  const paths = [
    { path: '/opt/tool', kind: 'added', sizeBytes: null },
    { path: '/opt/more', kind: 'added', sizeBytes: null },
  ];
  t.match(await changesIn(t, ''), { complete: false, paths });
});

t.test('the changes of a container are listed with the sizes that came in time', async (t) => {
  const paths = [
    { path: '/opt/tool', kind: 'added', sizeBytes: 4_096 },
    { path: '/opt/more', kind: 'added', sizeBytes: null },
  ];
  t.match(await changesIn(t, '81a4 8 /opt/tool//\n'), { complete: false, paths });
});
