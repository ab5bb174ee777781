import { createHash, randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import type { MemoryState } from '../../../../src/adapters/memory/memory-state.ts';
import type { Ports } from '../../../../src/app/main/compose-options.ts';
import { OutcomeUnknown, RuntimeUnavailable } from '../../../../src/ports/containers/container-runtime.ts';
import type { CommandEvent } from '../../../../src/ports/containers/inside/container-commands.ts';
import { waitFor } from '../../../support/patience.ts';
import { aBoxOfAda } from '../../../support/service/cluster.ts';
import { anApiToken, aPerson, aService } from '../../../support/service/service.ts';
import { aSocket } from '../../../support/service/sockets.ts';
import { endless } from '../../../support/service/streams.ts';
import { listening } from '../../../support/terminal/terminals.ts';

type Frame = { readonly type: string } & Readonly<Record<string, unknown>>;

/** A socket for one command; `room` is how much output it takes at first. */
async function aCommand(address: string, url: string, token: string, start: object | string, room = 1 << 30) {
  const { socket, send, end } = aSocket(`${address}${url}/exec`, 'berth.exec.v1', token);
  const frames: Frame[] = [];
  const output: Record<number, Buffer[]> = { 1: [], 2: [] };
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) output[data[0] ?? 0]?.push(data.subarray(1));
    else frames.push(JSON.parse(String(data)));
  });
  await waitFor(() => end() !== null || socket.readyState === socket.OPEN);
  const bytes = (stream: 1 | 2): Buffer => Buffer.concat(output[stream] ?? []);
  const frame = (type: string): Frame | undefined => frames.find((one) => one.type === type);
  const until = (check: () => unknown): Promise<void> =>
    waitFor(() => Boolean(check()), { what: () => `${check}; ${JSON.stringify(frames)} ${end()}` });
  if (end() === null) {
    socket.send(typeof start === 'string' ? start : JSON.stringify({ type: 'start', ...start }));
    send({ type: 'room', bytes: room });
  }
  return {
    socket,
    send,
    bytes,
    frame,
    until,
    end,
    /** Bytes of input that the service takes. */
    room: () => frames.reduce((sum, one) => (one.type === 'room' ? sum + Number(one['bytes']) : sum), 0),
    async closed() {
      await until(end);
      return end();
    },
  };
}

async function aScene(t: Test, ports: Partial<Ports> = {}) {
  const scene = await aBoxOfAda(ports);
  const address = await listening(t, scene.service);
  const open = (start: object | string, room?: number, token = scene.ada.token) =>
    aCommand(address, scene.url, token, start, room);
  return { ...scene, address, open };
}

const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

t.test('bytes pass both ways as they come, within the room of each side', async (t) => {
  const { open } = await aScene(t);
  const window = 262_144;
  const input = randomBytes(4 * window);
  const cat = await open({ command: ['cat'], stdin: true }, 100);
  await cat.until(() => cat.room() === window);
  cat.socket.send(input.subarray(0, 70));
  await cat.until(() => cat.bytes(1).length === 70);
  cat.send({ type: 'room', bytes: input.length });
  for (let sent = 70; sent < input.length; ) {
    await cat.until(() => cat.room() > sent);
    const piece = input.subarray(sent, cat.room());
    cat.socket.send(piece);
    sent += piece.length;
  }
  cat.send({ type: 'end_input' });
  t.same(await cat.closed(), [1000, 'ended']);
  t.equal(hash(cat.bytes(1)), hash(input));
  t.same(cat.frame('exit'), { type: 'exit', exit_code: 0 });
});

t.test('output waits for the room of the client', async (t) => {
  const { open } = await aScene(t);
  const zeros = await open({ command: ['head', '-c', '300000', '/dev/zero'] }, 1000);
  await zeros.until(() => zeros.bytes(1).length === 1000);
  zeros.send({ type: 'room', bytes: 1 });
  await zeros.until(() => zeros.bytes(1).length >= 1001);
  t.equal(zeros.bytes(1).length, 1001);
  zeros.send({ type: 'room', bytes: 300_000 });
  await zeros.closed();
  t.equal(zeros.bytes(1).length, 300_000);
});

t.test('stderr is apart, and the exit code comes last', async (t) => {
  const { open } = await aScene(t);
  const missing = await open({ command: ['nope'] });
  await missing.closed();
  t.match(
    [missing.bytes(1).length, String(missing.bytes(2)), missing.frame('exit')],
    [0, /not found/, { exit_code: 127 }],
  );
  const late = await open({ command: ['sleep', '9'], timeout_seconds: 1 });
  await late.closed();
  t.match(late.frame('exit'), { exit_code: null });
  const variable = await open({ command: ['printenv', 'A'], env: { A: 'given' }, workdir: '/tmp' });
  await variable.closed();
  t.equal(String(variable.bytes(1)), 'given\n');
});

t.test('a terminal has its size, and changes it', async (t) => {
  const { open } = await aScene(t);
  const terminal = { term: 'xterm', cols: 90, rows: 20 };
  const shown = await open({ command: ['sh'], stdin: true, terminal });
  await shown.until(() => shown.frame('started'));
  shown.send({ type: 'resize', cols: 120, rows: 40 });
  shown.socket.send(Buffer.from('\n'));
  await shown.closed();
  t.equal(String(shown.bytes(1)), '40 120\r\n');
});

t.test('a first frame that starts nothing is refused by its field', async (t) => {
  const { open } = await aScene(t);
  const many = Object.fromEntries(Array.from({ length: 513 }, (_, at) => [`A${at}`, '']));
  const cases: readonly (readonly [object | string, string])[] = [
    ['no JSON', 'type'],
    ['{"type":"room","bytes":1}', 'type'],
    [{}, 'command'],
    [{ command: [] }, 'command'],
    [{ command: ['a\0'] }, 'command'],
    [{ command: [1] }, 'command'],
    [{ command: Array(6).fill('x'.repeat(30_000)) }, 'command'],
    [{ command: Array(10).fill('x'.repeat(30_000)) }, 'command'],
    [{ command: ['true'], env: many }, 'env'],
    [{ command: ['true'], env: { 'A-B': '' } }, 'env'],
    [{ command: ['true'], env: [] }, 'env'],
    [{ command: ['true'], workdir: '' }, 'workdir'],
    [{ command: ['true'], timeout_seconds: 0 }, 'timeout_seconds'],
    [{ command: ['true'], terminal: { term: 'xterm', cols: 0, rows: 1 } }, 'terminal'],
    [{ command: ['true'], terminal: { term: 'x y', cols: 1, rows: 1 } }, 'terminal'],
  ];
  for (const [start, field] of cases) {
    const one = await open(start);
    t.same(await one.closed(), [1000, 'ended']);
    const what = JSON.stringify(start).slice(0, 60);
    t.match(one.frame('refused'), { code: 'validation_failed', fields: { [field]: String } }, what);
  }
});

t.test('who may not run commands is refused before the upgrade', async (t) => {
  const { service, open, call, url } = await aScene(t);
  const eve = await aPerson(service, 'eve');
  const start = { command: ['true'] };
  t.equal((await open(start, 1, eve.token)).end(), 404);
  const reader = (await call('POST', '/api/tokens', { name: 'x', scopes: ['read'] })).json();
  t.equal((await open(start, 1, reader.token)).end(), 403);
  t.equal((await open(start, 1, 'svc_x')).end(), 401);
  await call('POST', `${url}/stop`);
  t.equal((await open(start)).end(), 409);
});

t.test('a command ends with its socket, and the socket with its credential', async (t) => {
  const { ports, atWork } = endless();
  const { open, call } = await aScene(t, ports);
  const left = await open({ command: ['tail'] });
  await left.until(() => left.bytes(1).length > 0);
  left.socket.terminate();
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
  const { token, id } = (await call('POST', '/api/tokens', { name: 'x' })).json();
  const cut = await open({ command: ['tail'] }, 1 << 30, token);
  await cut.until(() => cut.bytes(1).length > 0);
  await call('POST', `/api/tokens/${id}/revoke`);
  t.same(await cut.closed(), [4001, 'unauthorized']);
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
});

t.test('more input than there is room for ends it', async (t) => {
  const { ports, atWork } = endless();
  const { open } = await aScene(t, ports);
  const flood = await open({ command: ['tail'], stdin: true });
  await flood.until(() => flood.room() > 0);
  for (let count = 0; count < 5; count += 1) flood.socket.send(Buffer.alloc(65_536));
  flood.socket.send(Buffer.alloc(262_144));
  t.same(await flood.closed(), [1008, 'too much input']);
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
});

t.test('a lost command says so, and a fault of the service is none of it', async (t) => {
  const lost = async function* (): AsyncGenerator<CommandEvent> {
    yield { kind: 'output', stream: 'stdout', data: Buffer.from('so far') };
    throw new OutcomeUnknown('lost');
  };
  const ignored = async (): Promise<void> => {};
  const running = { events: lost(), end: ignored, signal: ignored, resize: ignored };
  for (const [open, code] of [
    [async () => running, 'command_outcome_unknown'],
    [() => Promise.reject(new RuntimeUnavailable('no engine')), 'internal_error'],
  ] as const) {
    const scene = await aScene(t, { commands: { open } });
    const one = await scene.open({ command: ['true'] });
    await one.closed();
    t.match(one.frame('refused'), { code, error: String }, code);
  }
});

const RUN = 'a-name-of-16-or-more';
const resume = (received: number) => ({ type: 'resume', run: RUN, received });

t.test('a command is resumed at the byte on another socket, and takes its input once', async (t) => {
  const { open } = await aScene(t);
  const first = await open({ command: ['cat'], stdin: true, run: RUN }, 5);
  await first.until(() => first.room() > 0);
  first.socket.send(Buffer.from('one two '));
  await first.until(() => first.bytes(1).length === 5);
  const twice = await open({ command: ['cat'], run: RUN });
  await twice.closed();
  t.match(twice.frame('refused'), { fields: { run: 'is in use' } });
  first.socket.terminate();
  const second = await open(resume(3));
  await second.until(() => second.bytes(1).length === 5);
  t.equal(String(second.bytes(1)), ' two ', 'from the byte that the client names');
  t.match([second.frame('resumed'), second.frame('started')], [{ received: 8, signals: 0 }, {}]);
  const third = await open(resume(8));
  t.same(await second.closed(), [1000, 'replaced'], 'one socket at a time');
  await third.until(() => third.room() > 0);
  third.socket.send(Buffer.from('three'));
  third.send({ type: 'end_input' });
  t.same(await third.closed(), [1000, 'ended']);
  t.equal(String(third.bytes(1)), 'three');
});

t.test('the end of a command waits for its client, and what is unknown is said', async (t) => {
  const { open, service, ada } = await aScene(t);
  const first = await open({ command: ['echo', 'gone'], run: RUN }, 1);
  await first.until(() => first.bytes(1).length === 1);
  first.socket.terminate();
  const other = await anApiToken(service, ada);
  const second = await open(resume(1), 1 << 30, other.token);
  await second.closed();
  t.same([String(second.bytes(1)), second.frame('exit')], ['one\n', { type: 'exit', exit_code: 0 }]);
  const again = await open(resume(5));
  await again.closed();
  t.same(again.frame('exit'), { type: 'exit', exit_code: 0 }, 'its exit code is on record');
  for (const [first, code] of [
    [resume(4), 'command_output_lost'],
    [{ ...resume(0), run: 'another-name-of-16' }, 'command_outcome_unknown'],
  ] as const) {
    const gone = await open(first);
    await gone.closed();
    t.match(gone.frame('refused'), { code });
  }
  const wrong = await open({ type: 'resume', run: 'short', received: 0 });
  await wrong.closed();
  t.match(wrong.frame('refused'), { code: 'validation_failed', fields: { run: String } });
});

t.test('a client learns what became of its command when the service ends', async (t) => {
  const { open, service, url, ada } = await aScene(t);
  const { storage } = service.ports;
  const first = await open({ command: ['cat'], stdin: true, run: RUN });
  await first.until(() => first.room() > 0);
  const other = await listening(t, await aService(service.ports));
  const elsewhere = async (received: number) => {
    const asked = await aCommand(other, url, ada.token, resume(received));
    await asked.closed();
    return asked.frame('refused')?.['code'] ?? asked.frame('exit');
  };
  t.equal(await elsewhere(0), 'command_elsewhere', 'its process has not reported yet');
  const [{ replica } = { replica: '' }] = (storage as unknown as { state: MemoryState }).state.commandRuns;
  await storage.repositories.health.report({ replica, startedAt: new Date(0), parts: [] });
  t.equal(await elsewhere(0), 'command_elsewhere', 'it is there');
  first.socket.send(Buffer.from('12345'));
  first.send({ type: 'end_input' });
  await first.closed();
  t.same(await elsewhere(5), { type: 'exit', exit_code: 0 });
  await storage.repositories.health.stopped(replica);
  t.equal(await elsewhere(4), 'command_output_lost');
  const second = await open({ command: ['cat'], stdin: true, run: RUN });
  await second.until(() => second.room() > 0);
  const stopping = service.http.close();
  await second.closed();
  t.match(second.frame('refused'), { code: 'command_lost' }, 'a service that stops says so');
  await stopping;
});

t.test('a command that the service ends is not said to be lost or elsewhere', async (t) => {
  const { open, service, url, ada } = await aScene(t);
  const first = await open({ command: ['cat'], stdin: true, run: RUN });
  await first.until(() => first.room() > 0);
  first.socket.send(Buffer.from('12345'));
  await first.until(() => first.bytes(1).length === 5);
  first.send({ type: 'room', bytes: 1, received: 5 });
  const other = await listening(t, await aService(service.ports));
  for (const address of [null, other]) {
    const again = await (address === null ? open(resume(0)) : aCommand(address, url, ada.token, resume(5)));
    await again.closed();
    t.match(again.frame('refused'), { code: 'command_abandoned' });
  }
});

t.test('a command that waits ends with its credential, and by a close', async (t) => {
  const { ports, atWork } = endless();
  const { open, call, service } = await aScene(t, ports);
  const { token, id } = (await call('POST', '/api/tokens', { name: 'x' })).json();
  const lost = await open({ command: ['tail'], run: RUN }, 1 << 30, token);
  await lost.until(() => lost.bytes(1).length > 0);
  lost.socket.terminate();
  await waitFor(() => service.http.websocketServer.clients.size === 0, { what: 'the socket is gone' });
  t.equal(atWork(), 1, 'it waits');
  await call('POST', `/api/tokens/${id}/revoke`);
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
  const left = await open({ command: ['tail'], run: RUN });
  await left.until(() => left.bytes(1).length > 0);
  left.socket.close(1000);
  await waitFor(() => atWork() === 0, { what: 'the command ends' });
});
