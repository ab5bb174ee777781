import { once } from 'node:events';
import { Agent, createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inspect } from 'node:util';
import Docker from 'dockerode';
import t, { type Test } from 'tap';
import { dockerRuntime } from '../../../../src/adapters/docker/containers/container-runtime.ts';
import { limitAnswers } from '../../../../src/adapters/docker/engine/answer-limit.ts';
import { engineCalls, LIMITS } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { watchForEnd } from '../../../../src/adapters/docker/engine/engine-events.ts';
import { probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import { followToEnd } from '../../../../src/adapters/docker/engine/engine-progress.ts';
import { dockerPrograms } from '../../../../src/adapters/docker/exec/container-programs.ts';
import { engineStream } from '../../../../src/adapters/docker/exec/engine-stream.ts';
import { openExec } from '../../../../src/adapters/docker/exec/exec-stream.ts';
import { frameReader } from '../../../../src/adapters/docker/exec/stream-demux.ts';
import { overfill } from '../../../../src/adapters/docker/volumes/quota-probe.ts';
import { shellCommands } from '../../../../src/adapters/scripts/exec/container-commands.ts';
import { printedBy } from '../../../../src/adapters/scripts/exec/run-script.ts';
import { CappedOutput } from '../../../../src/domain/capped-output.ts';
import { RuntimeUnavailable } from '../../../../src/ports/containers/container-runtime.ts';
import { storedContainer } from '../../../support/database/stored.ts';
import { runIn } from '../../../support/engine/container.ts';
import { dockerOf, frame, printingEngine } from '../../../support/engine/printing-engine.ts';
import { portOf } from '../../../support/listen.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson, aService, as } from '../../../support/service/service.ts';
import { standingTime } from '../../../support/time.ts';

const MIB = 1024 * 1024;
/** Far more than the client may keep, and little enough for an unlimited client to read in time. */
const SENT_MIB = 120;

/** A client of an engine that answers a ping, and everything else with `answer`. */
async function anEngine(t: Test, answer: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    if (request.url === '/_ping') response.end('OK');
    else answer(response);
  });
  const docker = await dockerOf(t, server);
  return { docker, calls: engineCalls(docker), server };
}

/** Sends an endless body as it is read, and counts the bytes sent. */
function flood(status: number, piece: string) {
  const sent = { mib: 0 };
  const answer = (response: ServerResponse): void => {
    const block = Buffer.alloc(MIB, piece);
    function* body() {
      for (; sent.mib < SENT_MIB; sent.mib += 1) yield block;
    }
    response.writeHead(status, { 'content-type': 'application/json' });
    pipeline(Readable.from(body()), response).catch(() => {});
  };
  return { sent, answer };
}

t.test('only the end of that container counts as its end', async (t) => {
  const opened = Promise.withResolvers<ServerResponse>();
  const { docker } = await anEngine(t, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    opened.resolve(response);
  });
  const end = watchForEnd(docker, 'one');
  let hasEnded = false;
  void end.ended.then(() => {
    hasEnded = true;
  });
  const stream = await opened.promise;
  const say = (event: object): void => void stream.write(`${JSON.stringify(event)}\n`);
  say({ Action: 'die', Actor: { ID: 'other' } });
  say({ Action: 'exec_die', Actor: { ID: 'one' } });
  await docker.ping();
  t.notOk(hasEnded);
  say({ Action: 'die', Actor: { ID: 'one' } });
  await end.ended;
  end.close();
  await once(stream, 'close');
});

t.test('a request is not formatted for a disabled debug log', async (t) => {
  const port = await portOf(
    t,
    createServer((_, response) => response.end()),
  );
  let printed = 0;
  const docker = limitAnswers(new Docker({ host: '127.0.0.1', port, protocol: 'http' }), () =>
    Object.assign(new Agent(), {
      [inspect.custom]: () => {
        printed += 1;
        return 'agent';
      },
    }),
  );
  await docker.ping();
  t.equal(printed, 0);
});

t.test('a refused command start leaves no connection', async (t) => {
  const open = new Set<Socket>();
  const { calls, server } = await anEngine(t, (response) =>
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"Id":"one"}'),
  );
  server.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // Like the engine, leaves the connection's end to the client.
  server.on('upgrade', (_request, socket) => {
    const body = '{"message":"the container has stopped"}';
    socket.on('error', () => {}).on('end', () => socket.end());
    socket.write(
      `HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
  const refused = openExec(calls, 'box', { command: ['true'], env: {}, tty: false, stdin: false });
  await t.rejects(refused, /has stopped/);
  await waitFor(() => open.size === 0);
});

t.test('an endless engine answer is dropped before it fills the memory', async (t) => {
  for (const status of [200, 500]) {
    const { sent, answer } = flood(status, ' ');
    const { calls } = await anEngine(t, answer);
    const asked = calls.read(30, (abortSignal) => calls.docker.listContainers({ abortSignal }));
    await t.rejects(
      asked,
      new RuntimeUnavailable('the engine is unreachable: the engine answered with more than 32 MiB'),
    );
    t.ok(sent.mib < SENT_MIB / 2, `${status}: ${sent.mib} MiB were sent`);
  }
});

t.test('an endless engine error in place of a stream is dropped too', async (t) => {
  const { sent, answer } = flood(500, ' ');
  const { calls } = await anEngine(t, answer);
  await t.rejects(engineStream(calls, '/containers/x/logs'), { message: /more than 32 MiB/ });
  t.ok(sent.mib < SENT_MIB / 2, `${sent.mib} MiB were sent`);
});

t.test('an engine that hangs delays the test of a disk quota only for a while', async (t) => {
  const time = standingTime(t);
  const { calls } = await anEngine(t, () => {});
  let fault = '';
  overfill(calls, 'canary').catch((error: Error) => {
    fault = error.message;
  });
  const passing = (): boolean => {
    time.pass(1_000);
    return fault !== '';
  };
  await waitFor(passing, { everyMs: 20, what: 'the test ends' });
  t.match(fault, /did not answer within 60 s/);
});

const progressOf = async (t: Test, answer: (response: ServerResponse) => void) => {
  const { docker } = await anEngine(t, answer);
  const seen: (string | undefined)[] = [];
  const done = followToEnd(await docker.pull('x'), ({ status }) => seen.push(status));
  return { seen, done };
};

t.test('an engine that answers is found, though its version takes longer than a ping may', async (t) => {
  const version = { Version: '4.3.1', ApiVersion: '1.41', Components: [{ Name: 'Podman Engine' }] };
  const { server } = await anEngine(t, (response) => {
    // Time itself: Podman asks its helpers for their versions.
    setTimeout(() => response.end(JSON.stringify(version)), LIMITS.connect * 1_000 + 300);
  });
  const { port } = server.address() as AddressInfo;
  t.match(await probe({ host: '127.0.0.1', port, tls: null }), { answers: true });
});

t.test('an endless progress line is dropped', async (t) => {
  const { sent, answer } = flood(200, '"');
  await t.rejects((await progressOf(t, answer)).done, { message: /progress line of more than/ });
  t.ok(sent.mib < SENT_MIB / 2, `${sent.mib} MiB were sent`);
});

t.test('progress that is not a JSON object fails only its own call', async (t) => {
  for (const words of ['pulled!\n', 'null\n', '{"status":\n']) {
    const { done } = await progressOf(t, (response) => response.end(words));
    await t.rejects(done, { message: /not a JSON object/ }, words);
  }
});

t.test('a progress report is read to its end, across chunks, and then throws its error', async (t) => {
  const { seen, done } = await progressOf(t, (response) => {
    response.write('{"status":"on');
    setImmediate(() => response.end('e"}\r\n\r\n{"error":"disk on fire"}\n{"status":"two"}'));
  });
  await t.rejects(done, { message: 'disk on fire' });
  t.same(seen.filter(Boolean), ['one', 'two']);
});

t.test("a stream may exceed the answer limit and is read at its reader's pace", async (t) => {
  const { answer } = flood(200, 'x');
  const { calls } = await anEngine(t, answer);
  let bytes = 0;
  for await (const chunk of await engineStream(calls, '/containers/x/logs')) bytes += chunk.length;
  t.equal(bytes, SENT_MIB * MIB);
});

/** Answers of a broken engine, or of a proxy, to a request about a container. */
const NONSENSE: Readonly<Record<string, string>> = {
  'no JSON': '<html>502</html>',
  'a cut-off answer': '{"Id": "a',
  nothing: '',
  null: 'null',
  'an empty object': '{}',
  'an empty list': '[]',
  'other types': '{"Id": 7, "State": "yes", "Config": []}',
};

const SETTINGS = {
  instanceId: 'i',
  network: 'n',
  node: 'local',
  cgroupParent: null,
  processLimits: { nofile: 1024, sigpending: 256, msgqueue: 102_400, memlock: 65_536 },
  hostCpuMillicores: 4000,
};

t.test('a call that failed on a malformed engine answer has no later effect', async (t) => {
  let says = '';
  const asked: string[] = [];
  const engine: Server = createServer((request, response) => {
    const path = request.url ?? '';
    if (request.method !== 'GET') asked.push(`${request.method} ${path}`);
    response.setHeader('content-type', 'application/json');
    if (path.endsWith('/_ping')) response.end('OK');
    else if (path.endsWith('/info') || path.includes('/volumes/')) response.writeHead(404).end('{}');
    else response.end(says);
  });
  const runtime = dockerRuntime(await dockerOf(t, engine), SETTINGS);
  const service = await aService({ runtime });
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const { operations } = service.ports.storage.repositories;
  for (const [name, text] of Object.entries(NONSENSE)) {
    says = text;
    for (const [method, path] of [
      ['POST', '/start'],
      ['POST', '/stop'],
      ['DELETE', ''],
    ] as const) {
      const { dbId } = await storedContainer(service.ports.storage, ada.id);
      if (path === '/start') {
        await service.ports.storage.repositories.containers.changeState(dbId, ['running'], {
          state: 'stopped',
        });
      }
      asked.length = 0;
      const answer = await call(method, `/api/containers/${dbId}${path}`);
      const status = (await call('GET', `/api/containers/${dbId}`)).json().status;
      const label = `${name}, ${method} ${path}: ${answer.statusCode}`;
      t.ok([200, 202, 500].includes(answer.statusCode), label);
      const isOpen = (await operations.busy()).has(dbId);
      t.equal(isOpen, answer.statusCode === 202, `${label}: goes on only when that is said`);
      if (answer.statusCode !== 500) continue;
      t.equal(status, path === '/start' ? 'stopped' : 'running', `${label}: as before`);
      t.same(asked, [], `${label}: nothing was changed at the engine`);
    }
  }
});

const COUNT = 100_000;
const singles = Buffer.concat(Array.from({ length: COUNT }, (_, n) => frame((n % 2) + 1, 'x')));

/** As `singles` arrives on a busy loop: one read of the socket takes everything. */
function inOneChunk(calls: Awaited<ReturnType<typeof printingEngine>>): void {
  const { modem } = calls.docker;
  const dial = modem.dial.bind(modem);
  modem.dial = (options, done) =>
    dial(options, (error, answer) => {
      const stream = answer as Duplex | undefined;
      if (stream?.pipe !== undefined) joined(stream);
      done?.(error, answer);
    });
}

function joined(stream: Duplex): void {
  const emit = stream.emit.bind(stream);
  const chunks: Buffer[] = [];
  stream.emit = (name: string | symbol, ...args: unknown[]) => {
    if (name === 'data') return chunks.push(args[0] as Buffer) > 0;
    if (name === 'end') emit('data', Buffer.concat(chunks));
    return emit(name, ...args);
  };
}

t.test('a hundred thousand frames in one chunk do not overflow the stack', async (t) => {
  const count = { stdout: 0, stderr: 0 };
  for (const { stream, data } of frameReader()(singles)) count[stream] += data.length;
  t.same(count, { stdout: COUNT / 2, stderr: COUNT / 2 });
});

t.test('a command may print single bytes', async (t) => {
  const calls = await printingEngine(t, singles);
  inOneChunk(calls);
  const handle = { node: 'test', runtimeId: 'a'.repeat(64) };
  const programs = dockerPrograms(calls);
  const limits = { maxOutputBytes: 60_000 };
  const { exitCode, stdout, stderr, truncated } = await runIn(
    shellCommands(programs, async () => handle.runtimeId),
    handle,
    ['true'],
    limits,
  );
  t.same([exitCode, stdout.length, stderr.length, truncated], [0, COUNT / 2, COUNT / 2, false]);
  t.equal((await printedBy(programs, 'any', 'true', [], 1000)).length, 1000, 'also one of our own programs');
});

t.test('output is kept up to its limit and copied', async (t) => {
  const kept = new CappedOutput(10_000);
  const chunk = Buffer.alloc(1 << 20, 'x');
  kept.add(chunk.subarray(0, 9_999));
  t.notOk(kept.isCut);
  kept.add(chunk.subarray(0, 1));
  t.notOk(kept.isCut);
  kept.add(chunk.subarray(0, 1));
  t.ok(kept.isCut);
  t.equal(kept.bytes().length, 10_000);
  t.not(kept.bytes().buffer, chunk.buffer);
  t.equal(new CappedOutput(0).bytes().length, 0);
});
