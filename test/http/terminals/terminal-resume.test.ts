import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import { KEEP_MAIN_MS, KEEP_PANE_MS } from '../../../src/domain/terminals/terminal-slot.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';
import { type TerminalClient, terminalClient } from '../../support/terminal/terminal-client.ts';
import { aContainerOf, type FakePty, fakeTerminals, listening } from '../../support/terminal/terminals.ts';

const MIB = 1_048_576;

/** A service with Ada's running container and scripted programs. */
async function aScene(t: Test, { muxed = false } = {}) {
  let nowMs = 0;
  const backend = fakeTerminals({ muxed });
  const service = await aService({ terminalBackend: backend, monotonicMs: () => nowMs });
  const ada = await aPerson(service, 'ada');
  const dbId = await aContainerOf(service, ada);
  const at = { address: await listening(t, service), dbId, token: ada.token };
  const { clients } = service.http.websocketServer;
  const open = (query: Record<string, string | number> = {}, options = {}) =>
    terminalClient(at, query, options);
  return {
    service,
    backend,
    open,
    /** The connection is cut, and the service has noticed. */
    cut: async ({ socket }: TerminalClient): Promise<void> => {
      const before = clients.size;
      socket.terminate();
      await waitFor(() => clients.size < before, { what: 'the service notices' });
    },
    resume: ({ ready }: TerminalClient, after: number, query = {}) =>
      open({ stream: ready.stream, after, ...query }),
    pty: (index = -1): FakePty => {
      const pty = backend.opened.at(index);
      if (pty === undefined) throw new Error('nothing was opened');
      return pty;
    },
    stop: () => as(service, ada)('POST', `/api/containers/${dbId}/stop`),
    pass: async (ms: number) => {
      nowMs += ms;
      await service.writeDue();
    },
  };
}

const seen = (client: TerminalClient, bytes: number) => client.until(() => client.output().length >= bytes);

t.test('a lost connection is resumed to the byte, including later output', async (t) => {
  const { open, resume, pty, backend, cut } = await aScene(t);
  const first = await open();
  t.match(first.ready, { offset: 0, input_offset: 0, redraw: false, mux_session: null });
  pty().say('héllo ');
  await seen(first, 7);
  await cut(first);
  pty().say('wörld');
  const second = await resume(first, 3);
  t.match(second.ready, { stream: first.ready.stream, offset: 3, redraw: false });
  await seen(second, 10);
  t.equal(Buffer.concat([first.output().subarray(0, 3), second.output()]).toString(), 'héllo wörld');
  await cut(second);
  const third = await resume(first, 13);
  t.match(third.ready, { offset: 13, redraw: false }, 'nothing is missing');
  pty().say('!');
  await seen(third, 1);
  t.equal(third.output().toString(), '!');
  t.equal(backend.opened.length, 1, 'it was one program all the time');
});

t.test('a terminal that cannot be resumed is redrawn, and says so', async (t) => {
  const { open, resume, pty, backend } = await aScene(t);
  const first = await open();
  pty().say('\x1b[6n$ ');
  await seen(first, 6);
  const beyond = await resume(first, 7);
  t.match(beyond.ready, { stream: first.ready.stream, offset: 0, redraw: true });
  await seen(beyond, 6);
  t.equal(beyond.output().toString(), '\0\0\0\0$ ', 'and asks nothing again');
  t.same(await first.closed(), [1000, 'replaced']);
  const reloaded = await open();
  t.match(reloaded.ready, { stream: first.ready.stream, offset: 0, redraw: true }, 'after a reload as well');
  const stranger = await open({ stream: 'of-an-earlier-process', after: 1 });
  t.match(stranger.ready, { stream: first.ready.stream, offset: 0, redraw: true });
  t.equal(backend.opened.length, 1);
  const other = await open({ new: 'true' });
  t.not(other.ready.stream, first.ready.stream, 'a forced one is another');
  await waitFor(async () => backend.opened[0]?.stream.destroyed === true);
});

t.test('long output is redrawn as its screen, and continues exactly after it', async (t) => {
  const { open, resume, pty, cut } = await aScene(t);
  const first = await open();
  const lines = Array.from({ length: 8_000 }, (_, line) => `line ${line}\r\n`).join('');
  pty().say(`\x1b[?2004h${lines}\x1b[6n$ `);
  const bytes = '\x1b[?2004h'.length + lines.length + '\x1b[6n$ '.length;
  await seen(first, bytes);
  const reloaded = await open({ cols: 80, rows: 24 });
  t.match(reloaded.ready, { stream: first.ready.stream, redraw: true });
  const snapshot = bytes - reloaded.ready.offset;
  await seen(reloaded, snapshot);
  t.ok(snapshot < bytes, 'it is counted as the end of the output that it shows');
  t.notOk(reloaded.output().includes('\x1b[6n'), 'and asks nothing');
  t.ok(reloaded.output().includes('\x1b[?2004h'));
  t.ok(reloaded.output().includes('line 7999'));
  pty().say('more');
  await seen(reloaded, snapshot + 4);
  t.equal(reloaded.output().subarray(snapshot).toString(), 'more');
  await cut(reloaded);
  const exact = await resume(reloaded, bytes + 1);
  t.match(exact.ready, { redraw: false, offset: bytes + 1 });
  await seen(exact, 3);
  t.equal(exact.output().toString(), 'ore');
  const half = await resume(reloaded, bytes - 1);
  t.equal(half.ready.redraw, true, 'a client that received part of a snapshot gets another one');
});

t.test('output that xterm.js cannot draw harms no terminal', async (t) => {
  const { open, pty } = await aScene(t);
  const first = await open({ connection_id: 'one' });
  const one = pty();
  const other = await open({ connection_id: 'two' });
  const two = pty();
  const erased = '\x1b[999;999Hx\x1b[?1J\x1b[999;999Hx\x1b[1J\x1b[Hshown';
  for (const { say } of [one, two]) say('\x1b[Hgone'.repeat(2_000) + erased);
  await Promise.all([first, other].map((client) => client.until(() => client.output().includes('shown'))));
  const reloaded = await open({ connection_id: 'one', cols: 80, rows: 24 });
  t.match(reloaded.ready, { stream: first.ready.stream, redraw: true });
  await reloaded.until(() => reloaded.output().includes('shown'));
  t.notOk(reloaded.output().includes('gone'), 'the screen as it is, not all output');
  one.say(' one');
  two.say(' two');
  await reloaded.until(() => reloaded.output().includes(' one'));
  await other.until(() => other.output().includes(' two'));
  reloaded.socket.send(Buffer.from('typed'));
  await waitFor(() => one.typed() === 'typed');
});

t.test('a multiplexer redraws for a client without output', async (t) => {
  const { open, resume, pty, backend, cut } = await aScene(t, { muxed: true });
  const first = await open();
  pty().say('abc');
  await seen(first, 3);
  await cut(first);
  const second = await resume(first, 3);
  t.match(second.ready, { stream: first.ready.stream, offset: 3, redraw: false });
  const third = await open();
  t.match(third.ready, { offset: 0, redraw: false, mux_session: 'main' });
  t.not(third.ready.stream, first.ready.stream);
  await waitFor(async () => backend.opened[0]?.stream.destroyed === true, { what: 'the old one is let go' });
  const lost = await resume(first, 3);
  t.match(lost.ready, { offset: 0, redraw: true }, 'what was let go is drawn anew');
});

t.test('input is acknowledged, and resent input runs once', async (t) => {
  const { open, resume, pty, cut } = await aScene(t);
  const first = await open();
  first.socket.send(Buffer.from('make all\r'));
  await first.until(() => acknowledged(first, 9));
  await cut(first);
  const second = await resume(first, 0);
  t.equal(second.ready.input_offset, 9);
  second.socket.send('{"type":"input_from","offset":5}');
  second.socket.send(Buffer.from('all\rmake '));
  second.socket.send(Buffer.from('test\r'));
  await second.until(() => pty().typed().endsWith('test\r'));
  t.equal(pty().typed(), 'make all\rmake test\r');
  second.socket.send('{"type":"input_from","offset":1000}');
  second.socket.send(Buffer.from('lost'));
  t.same(await second.closed(), [1008, 'input gap'], 'a gap is refused');
  const third = await resume(first, 0);
  t.equal(third.ready.input_offset, 19, 'and nothing after it was taken');
});

const acknowledged = ({ messages }: TerminalClient, offset: number): boolean =>
  messages.some(({ type, input_offset }) => type === 'ack' && input_offset === offset);

const pinged = async ({ socket, messages, until }: TerminalClient, n: number): Promise<void> => {
  socket.send(JSON.stringify({ type: 'ping', t: n }));
  await until(() => messages.some(({ type, t }) => type === 'pong' && t === n));
};

t.test('input that the engine does not have yet is unacknowledged, and runs once', async (t) => {
  const { open, resume, pty, cut } = await aScene(t);
  const beside = await open({ connection_id: 'beside' });
  let typedBeside = 0;
  // Later input was acknowledged elsewhere, so this would have been, too.
  const answered = async (client: TerminalClient): Promise<void> => {
    await pinged(client, 0);
    beside.socket.send(Buffer.from('x'));
    typedBeside += 1;
    await beside.until(() => acknowledged(beside, typedBeside));
    await pinged(client, 1);
  };
  const first = await open();
  const { stream } = pty();
  const hand = stream._write.bind(stream);
  let handOn = (): void => {};
  stream._write = (...given) => {
    handOn = () => hand(...given);
  };
  first.socket.send(Buffer.from('ma'));
  first.socket.send('{"type":"input_from","offset":0}');
  first.socket.send(Buffer.from('ma'));
  await answered(first);
  t.notOk(acknowledged(first, 2), 'also when it is sent again');
  await cut(first);
  const second = await resume(first, 0);
  t.equal(second.ready.input_offset, 2, 'it is taken all the same');
  second.socket.send('{"type":"input_from","offset":0}');
  second.socket.send(Buffer.from('make\r'));
  await answered(second);
  t.notOk(acknowledged(second, 5));
  stream._write = hand;
  handOn();
  await second.until(() => acknowledged(second, 5));
  t.equal(pty().typed(), 'make\r');
});

t.test('only its own client resumes a terminal', async (t) => {
  const { service, open, pty, cut } = await aScene(t);
  const first = await open();
  pty().say('secret');
  await seen(first, 6);
  await cut(first);
  const pane = await open({ stream: first.ready.stream, after: 0, connection_id: 'other' });
  t.not(pane.ready.stream, first.ready.stream);
  t.equal(pane.output().length, 0);
  const listed = await service.ports.storage.repositories.terminals.list();
  t.equal(listed.length, 1, 'and one without a socket is no session');
});

t.test('a terminal waits for its client, the main one longer, and then ends', async (t) => {
  for (const [pane, keepMs] of [
    ['main', KEEP_MAIN_MS],
    ['pane2', KEEP_PANE_MS],
  ] as const) {
    const { service, open, pass, pty, backend, cut } = await aScene(t, { muxed: true });
    const client = await open({ connection_id: pane });
    await cut(client);
    await pass(keepMs - 1);
    t.notOk(pty().stream.destroyed, `${pane} a moment before`);
    await pass(1);
    await waitFor(async () => pty().stream.destroyed, { what: pane });
    await service.terminals.idle();
    t.same(backend.killed, pane === 'main' ? [] : ['pane-pane2'], 'a pane takes its session along');
  }
});

t.test("a program's unseen end is reported to the returning client", async (t) => {
  const { open, resume, pty, cut } = await aScene(t);
  const first = await open();
  await cut(first);
  pty().say('result');
  pty().end();
  await waitFor(() => pty().stream.destroyed);
  const second = await resume(first, 0);
  t.same(await second.closed(), [1000, 'ended']);
  t.equal(second.output().toString(), 'result');
  t.match(second.messages.at(-1), { type: 'exit', code: 0 });
  t.not((await open()).ready.stream, first.ready.stream, 'and the message comes once');
});

t.test('a stop also ends terminals that wait for their client', async (t) => {
  const { open, pty, stop, cut } = await aScene(t);
  await cut(await open());
  await stop();
  await waitFor(async () => pty().stream.destroyed);
});

t.test('a client that reads nothing pauses the program, and misses nothing', async (t) => {
  const { open, resume, pty, cut } = await aScene(t);
  const first = await open({}, { autoPong: false });
  const all = randomBytes(6 * MIB);
  for (let at = 0; at < all.length; at += 50_000) pty().say(all.subarray(at, at + 50_000));
  await seen(first, MIB);
  await waitFor(() => pty().stream.isPaused());
  // The pong comes after all that was sent.
  first.socket.ping();
  await once(first.socket, 'pong');
  const taken = first.output().length;
  t.ok(taken < 1.2 * MIB, `${taken} bytes came without a sign that they arrived`);
  await cut(first);
  const half = Math.floor(taken / 2);
  const second = await resume(first, half);
  t.match(second.ready, { offset: half, redraw: false });
  await seen(second, all.length - half);
  t.ok(Buffer.concat([first.output().subarray(0, half), second.output()]).equals(all));
});

t.test('at least a mebibyte is buffered for a return', async (t) => {
  const { open, resume, pty } = await aScene(t);
  const first = await open();
  const all = randomBytes(3 * MIB);
  for (let at = 0; at < all.length; at += 30_000) pty().say(all.subarray(at, at + 30_000));
  await seen(first, all.length);
  const second = await resume(first, 2 * MIB);
  t.match(second.ready, { offset: 2 * MIB, redraw: false });
  await seen(second, MIB);
  t.ok(second.output().equals(all.subarray(2 * MIB)));
  const third = await resume(first, 0);
  t.ok(third.ready.redraw);
  t.ok(third.ready.offset > 0);
});
