import { once } from 'node:events';
import { Agent, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { apiClient } from '../../../../src/adapters/kubernetes/client/api-client.ts';
import { Anything } from '../../../../src/adapters/kubernetes/client/objects.ts';
import { clusterPrograms } from '../../../../src/adapters/kubernetes/exec/container-programs.ts';
import type { ObservedContainer, RightMissing } from '../../../../src/ports/containers/container-runtime.ts';
import type {
  ContainerProgram,
  ProgramRequest,
} from '../../../../src/ports/containers/inside/container-programs.ts';
import { runHere } from '../../../support/kubernetes/exec-programs.ts';
import { type ExecProtocol, endStatus, startExecServer } from '../../../support/kubernetes/exec-server.ts';
import { notAllowed } from '../../../support/kubernetes/refusals.ts';
import { standsStill, waitFor } from '../../../support/patience.ts';

const V4 = 'v4.channel.k8s.io';
const V5 = 'v5.channel.k8s.io';
const ID = 'a'.repeat(64);
const RUNNING: ObservedContainer = { kind: 'running', startedAt: new Date(0) };

type SetUp = { protocol?: ExecProtocol; autoPong?: boolean; observed?: ObservedContainer };

async function setUp(t: Test, { protocol = V5, observed = RUNNING, ...more }: SetUp = {}) {
  const next: ObservedContainer[] = [];
  const server = await startExecServer(t, { run: runHere, protocol, ...more });
  const programs = clusterPrograms({
    access: server.access,
    podContainerOf: () => ({ pod: 'ws-one', container: 'workspace' }),
    observe: async () => next.shift() ?? observed,
    node: 'cluster',
  });
  const seenNext = (...seen: readonly ObservedContainer[]): void => void next.push(...seen);
  const start = (command: readonly string[], more: Partial<ProgramRequest> = {}) =>
    programs.start(ID, { command, env: {}, form: 'apart', stdin: false, ...more });
  return { server, programs, start, seenNext };
}

async function collected(program: ContainerProgram) {
  const parts: { stdout: Buffer[]; stderr: Buffer[] } = { stdout: [], stderr: [] };
  for await (const { stream, data } of program.output()) parts[stream].push(data);
  const [stdout, stderr] = [Buffer.concat(parts.stdout), Buffer.concat(parts.stderr)];
  return { stdout, stderr: stderr.toString(), exitCode: await program.exitCode() };
}

const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7 + (at >> 8)) % 256));
/** Everything that a shell, a terminal or a URL could take for its own. */
const WORDS = [
  '',
  "it's",
  '"$HOME" `id` \\n',
  'two\nlines\n',
  '\u0003\u0004\u001b[A\t\r\u007f',
  'ü漢😀',
  '-e',
];

for (const protocol of [V4, V5] as const) {
  await t.test(`${protocol}: input, both outputs and exit codes arrive exactly`, async (t) => {
    const { start } = await setUp(t, { protocol });
    const cat = await start(['sh', '-c', 'cat; echo end >&2'], { stdin: true });
    const much = Buffer.concat(Array.from({ length: 12 }, () => BYTES));
    cat.stream.end(much);
    const { stdout, stderr, exitCode } = await collected(cat);
    t.ok(stdout.equals(much), 'every byte, up to the end of the input');
    t.same([stderr, exitCode], ['end\n', 0]);
    for (const code of [0, 7, 199, 255])
      t.equal((await collected(await start(['sh', '-c', `exit ${code}`]))).exitCode, code);
    t.match(await collected(await start(['no-such-command'])), { stderr: /not found/, exitCode: 127 });
    t.match(await collected(await start(['pwd'], { workdir: '/tmp' })), { stdout: Buffer.from('/tmp\n') });
    t.match(await collected(await start(['cat'])), { stdout: Buffer.alloc(0), exitCode: 0 }, 'no input');
  });

  await t.test(
    `${protocol}: a program that leaves its input unread ends, and the input with it`,
    async (t) => {
      const { start } = await setUp(t, { protocol });
      const program = await start(['sh', '-c', 'read -r line; echo "$line"'], { stdin: true });
      program.stream.write('first\n');
      t.match(await collected(program), { stdout: Buffer.from('first\n'), exitCode: 0 });
      const much = await start(['head', '-c', '5'], { stdin: true });
      for (let at = 0; at < 40; at += 1) much.stream.write(BYTES);
      t.match(await collected(much), { stdout: BYTES.subarray(0, 5), exitCode: 0 });
    },
  );

  await t.test(`${protocol}: a terminal has the size, the keys and the end of its program`, async (t) => {
    const { start } = await setUp(t, { protocol });
    const script = 'stty size; read -r line; stty size; exit 3';
    const program = await start(['sh', '-c', script], {
      form: 'terminal',
      stdin: true,
      env: { TERM: 'xterm' },
    });
    let shown = '';
    program.stream.on('data', (data: Buffer) => {
      shown += data;
    });
    await waitFor(() => /\d+ \d+/.test(shown), { what: () => shown });
    t.notMatch(shown, /berth_|read -r/, 'nothing of the start is shown');
    await program.resize(97, 31);
    program.stream.write('\r');
    await once(program.stream, 'close');
    t.match(shown, /31 97/);
    t.equal(await program.exitCode(), 3);
    t.notOk(await program.isRunning());
  });
}

for (const form of ['apart', 'terminal'] as const)
  t.test(`every word and variable arrives as it is: ${form}`, async (t) => {
    const { start, server } = await setUp(t);
    const print = ['sh', '-c', 'printf "%s|" "$SECRET" "$@" | od -An -v -tx1', 'sh'];
    const words = [...WORDS, 'long'.repeat(20_000)];
    const env = { SECRET: WORDS.join(' '), BERTH_EXEC: 'a-mark' };
    const { stdout } = await collected(await start([...print, ...words], { form, env }));
    t.equal(
      Buffer.from(stdout.toString().replaceAll(/\s/g, ''), 'hex').toString(),
      [env.SECRET, ...words, ''].join('|'),
    );
    const [asked] = server.requests;
    t.match(asked, { pod: 'ws-one', container: 'workspace', isTerminal: form === 'terminal' });
    t.notMatch(
      decodeURIComponent(asked?.url ?? ''),
      /printf|it's|long/,
      'the URL, which is logged, has none',
    );
  });

const UNRESPONSIVE = { name: 'RuntimeBusy', code: 'container_unresponsive' };

t.test('a refused exec is told by what the cluster says of it', async (t) => {
  const { server, start, seenNext } = await setUp(t);
  const status = (message: string, reason = '') => ({ kind: 'Status', message, reason });
  // Answers of Kubernetes 1.36.2, and the last of 1.20.2, to `kubectl exec`.
  for (const [code, answer] of [
    [404, status('pods "ws-one" not found', 'NotFound')],
    [400, status('container workspace is not valid for pod ws-one', 'BadRequest')],
    [500, status('unable to upgrade connection: container not found ("workspace")')],
    [404, status('pod does not exist')],
  ] as const) {
    server.refuseNext(code, answer);
    seenNext(RUNNING, { kind: 'stopped', exitCode: 0 });
    await t.rejects(start(['true']), { name: 'ContainerNotRunning', isGone: false });
    server.refuseNext(code, answer);
    await t.rejects(start(['true']), UNRESPONSIVE, 'it runs, so that will pass');
  }
  // Of a node that is lost, or coming back.
  for (const [code, message] of [
    [500, 'error dialing backend: dial tcp 10.0.0.7:10250: connect: connection refused'],
    [502, 'error dialing backend: dial tcp 10.0.0.7:10250: connect: no route to host'],
    [504, 'error dialing backend: dial tcp 10.0.0.7:10250: i/o timeout'],
    [502, 'error dialing backend: forbidden by a rule of the network'],
  ] as const) {
    server.refuseNext(code, status(message));
    await t.rejects(start(['true']), { ...UNRESPONSIVE, cause: { message: /dialing backend/ } });
  }
  server.refuseNext(403, status('pods "ws-one" is forbidden', 'Forbidden'));
  await t.rejects(start(['true']), { name: 'RuntimeFailure', message: /forbidden/ });
  // The second is a kubelet's own text, the third is what an API server makes of it, the last that of a proxy between them.
  const kubelet = 'Forbidden (user=kube-apiserver, verb=create, resource=nodes, subresource=proxy)';
  for (const [code, answer, right] of [
    [403, status(notAllowed('create', 'pods/exec'), 'Forbidden'), 'create pods/exec'],
    [403, kubelet, 'create nodes/proxy'],
    [500, status(`unable to upgrade connection: ${kubelet}`), 'create nodes/proxy'],
    [500, status('unable to upgrade connection: Forbidden'), 'start programs on its nodes'],
  ] as const) {
    server.refuseNext(code, answer);
    const error = await start(['true']).catch((fault: unknown) => fault);
    t.match(error, { name: 'RightMissing' }, 'an administrator can grant it');
    t.equal((error as RightMissing).right, right, 'without the account that lacks it');
  }
  server.refuseNext(401, status('Unauthorized', 'Unauthorized'));
  await t.rejects(start(['true']), { name: 'RuntimeUnavailable' });
  server.refuseNext(429, status('too many requests', 'TooManyRequests'));
  await t.rejects(start(['true']), { name: 'RuntimeBusy', code: 'engine_busy' });
  t.equal(server.requests.length, 0);
});

t.test('a refused exec leaves its connection to the next call', async (t) => {
  const message = 'error dialing backend: dial tcp 10.0.0.7:10250: connect: no route to host';
  // Without a listener for upgrades it answers them like other requests, and keeps the connection.
  const server = createServer((request, response) => {
    const isExec = request.url?.includes('/exec') === true;
    response.writeHead(isExec ? 500 : 200).end(JSON.stringify(isExec ? { kind: 'Status', message } : {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => {
    agent.destroy();
    server.close().closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const access = { server: url, namespace: 'berth', options: async () => ({ headers: {}, agent }) };
  const client = apiClient(access);
  const programs = clusterPrograms({
    access,
    podContainerOf: () => ({ pod: 'ws-one', container: 'workspace' }),
    observe: async () => {
      await client.call(Anything, { method: 'GET', path: '/api/v1' });
      return RUNNING;
    },
    node: 'cluster',
  });
  const asked = { command: ['true'], env: {}, form: 'apart', stdin: false } as const;
  for (const _ of [1, 2, 3]) await t.rejects(programs.start(ID, asked), UNRESPONSIVE);
});

t.test('nothing starts in the container of another generation', async (t) => {
  for (const [kind, isGone] of [
    ['gone', true],
    ['stopped', false],
  ] as const) {
    const { server, start } = await setUp(t, { observed: { kind, exitCode: 0 } as ObservedContainer });
    const touched = start(['touch', `/tmp/berth-${process.pid}-touched`], { form: 'terminal' });
    await t.rejects(touched, { name: 'ContainerNotRunning', isGone });
    await waitFor(() => server.sockets.size === 0, { what: 'its shell ends' });
    t.rejects(() => import('node:fs/promises').then((fs) => fs.stat(`/tmp/berth-${process.pid}-touched`)));
  }
});

t.test('a program starts after what it waits for, and never without it', async (t) => {
  const { server, start } = await setUp(t);
  const fails = Promise.reject(new Error('not on record'));
  fails.catch(() => {});
  await t.rejects(start(['true'], { form: 'terminal', startAfter: fails }), /not on record/);
  await waitFor(() => server.sockets.size === 0, { what: 'its shell ends' });
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = start(['echo', 'late'], { startAfter: promise });
  await waitFor(() => server.requests.length === 2);
  resolve();
  t.match(await collected(await late), { stdout: Buffer.from('late\n'), exitCode: 0 });
});

t.test('a connection that breaks is no end of the program', async (t) => {
  const { server, start } = await setUp(t);
  server.handleNext((socket) => socket.once('message', () => socket.close(1000)));
  await t.rejects(start(['true']), { name: 'OutcomeUnknown' }, 'before it has reported');
  const failsWith = (message: string): void =>
    server.handleNext((socket) => {
      const status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
      socket.once('message', () => {
        socket.send(Buffer.from(`\u0003${JSON.stringify(status)}`));
        socket.close(1000);
      });
    });
  failsWith('error executing command in container: exec: "sh": executable file not found in $PATH');
  await t.rejects(start(['true']), { name: 'RuntimeFailure', message: /executable file not found/ });
  failsWith(
    'error sending request: Post "https://10.0.0.7:10250/exec": dial tcp 10.0.0.7:10250: i/o timeout',
  );
  await t.rejects(start(['true']), UNRESPONSIVE, 'its node is lost');
  failsWith('unable to upgrade connection: Forbidden (user=kube-apiserver, verb=create, resource=nodes)');
  const refused = await start(['true']).catch((fault: unknown) => fault);
  t.match(refused, { name: 'RightMissing', message: /kube-apiserver/ }, 'its node is there, and refuses');
  t.equal((refused as RightMissing).right, 'create nodes', 'without the account that lacks it');
  failsWith('error dialing backend: forbidden by a rule of the network');
  await t.rejects(start(['true']), UNRESPONSIVE, 'its node is not reached');

  const cut = await start(['sh', '-c', 'echo begun; exec sleep 60']);
  const output = collected(cut);
  await waitFor(() => server.sockets.size === 1);
  const [socket] = server.sockets;
  // The head of a frame that announces more than comes.
  (socket as unknown as { readonly _socket: { end(bytes: Buffer): void } })._socket.end(
    Buffer.from([0x82, 0x10, 0x01, 0x41]),
  );
  await t.rejects(output, 'half a frame');
  t.equal(await cut.exitCode(), null);
  t.equal(await cut.isRunning(), true);
});

t.test('an exec that never reports has an unknown outcome after half a minute', async (t) => {
  const { server, start } = await setUp(t);
  const asked = Promise.withResolvers<void>();
  server.handleNext((socket) => void socket.once('message', () => asked.resolve()));
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const silent = start(['true']);
  silent.catch(() => {});
  await asked.promise;
  mock.timers.tick(30_000);
  await t.rejects(silent, { name: 'OutcomeUnknown' });
  mock.timers.reset();
  await waitFor(() => server.sockets.size === 0, { what: 'nothing waits for it' });
});

for (const form of ['apart', 'terminal'] as const)
  t.test(`"Success" while the program lives is no exit code: ${form}`, async (t) => {
    const { server, start } = await setUp(t);
    const program = await start(['sleep', '60'], { form });
    program.stream.resume();
    // A restart of containerd looks like this.
    for (const socket of server.sockets) {
      socket.send(endStatus(0));
      socket.close(1000);
    }
    await once(program.stream, 'close');
    t.equal(await program.exitCode(), null);
    t.equal(await program.isRunning(), true);
  });

t.test('a reader that stalls stops the program, and loses nothing', async (t) => {
  const { server, start } = await setUp(t);
  const program = await start(['head', '-c', '40000000', '/dev/zero']);
  const sent = async (): Promise<number> => [...server.sockets].reduce((sum, each) => sum + bytesTo(each), 0);
  await waitFor(async () => (await sent()) > 0);
  await standsStill(sent);
  t.ok((await sent()) < 20_000_000, 'the server sends no more');
  const { stdout, exitCode } = await collected(program);
  t.same([stdout.length, exitCode], [40_000_000, 0]);
});

const bytesTo = (socket: unknown): number =>
  (socket as { readonly _socket: { readonly bytesWritten: number } })._socket.bytesWritten;

t.test('a peer that no longer answers is noticed, and one that does is not', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.teardown(() => mock.timers.reset());
  const silent = await setUp(t, { autoPong: false });
  const lost = await silent.start(['sleep', '60'], { form: 'terminal' });
  lost.stream.resume();
  mock.timers.tick(25_000);
  t.notOk(lost.stream.destroyed);
  mock.timers.tick(25_000);
  t.ok(lost.stream.destroyed);

  // a server answers no ping before a slow program has taken its input
  const slow = await silent.start(['sleep', '60'], { form: 'terminal' });
  slow.stream.resume();
  slow.stream.write('input');
  for (const _ of [1, 2, 3]) mock.timers.tick(25_000);
  t.notOk(slow.stream.destroyed);
  slow.stream.destroy();

  const alive = await setUp(t);
  const kept = await alive.start(['sleep', '60'], { form: 'terminal' });
  kept.stream.resume();
  for (const _ of [1, 2, 3]) {
    const [socket] = alive.server.sockets;
    const pinged = socket && once(socket, 'ping');
    mock.timers.tick(25_000);
    await pinged;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  t.notOk(kept.stream.destroyed);
});

t.test('a size waits until the server takes it, so that a flood of them does not pile up', async (t) => {
  const { server, start } = await setUp(t);
  const terminal = { form: 'terminal', stdin: true, env: { TERM: 'xterm' } } as const;
  const program = await start(['sleep', '600'], terminal);
  program.stream.resume();
  for (const socket of server.sockets) socket.pause();
  // More than the system buffers.
  program.stream.write(Buffer.alloc(32 * 1_048_576));
  let taken = 0;
  void program.resize(97, 31).then(() => {
    taken += 1;
  });
  t.equal(await standsStill(async () => taken), 0);
  program.stream.destroy();
  await waitFor(() => taken === 1, { what: 'no request waits for a lost connection' });
});
