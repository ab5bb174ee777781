import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { answersOf } from '../../../src/adapters/websocket/bounded-replies.ts';
import { inputLimit, SocketPause } from '../../../src/adapters/websocket/socket-reader.ts';
import { InputIntake } from '../../../src/adapters/websocket/terminal/input-intake.ts';
import { OutputPump } from '../../../src/adapters/websocket/terminal/output-pump.ts';
import { frameRequests } from '../../../src/adapters/websocket/terminal/scrollback-request.ts';
import { outputSlots } from '../../../src/app/terminals/output/output-slots.ts';
import { ptyTerminal } from '../../../src/app/terminals/output/pty-terminal.ts';
import { readScheduler } from '../../../src/app/terminals/output/read-scheduler.ts';
import type { TerminalStream } from '../../../src/app/terminals/output/terminal-stream.ts';
import type { RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import type { OutputRoom } from '../../../src/ports/output-room.ts';
import type { PtyStream } from '../../../src/ports/terminals/terminal-backend.ts';
import { aTerminal } from '../../contract/terminals/terminal-backend.ts';
import { waitFor } from '../../support/patience.ts';
import { type FakePty, fakeTerminals } from '../../support/terminal/terminals.ts';
import { standingTime } from '../../support/time.ts';

const HANDLE: RuntimeHandle = { node: 'n', runtimeId: 'r' };
const MIB = 1_048_576;

/** A program that answers every byte with twenty, and reads only as its output is read. */
function amplifier(): PtyStream {
  let goOn: (() => void) | null = null;
  const stream = new Duplex({
    read() {
      const then = goOn;
      goOn = null;
      then?.();
    },
    write(chunk: Buffer, _encoding, done) {
      if (this.push(Buffer.alloc(chunk.length * 20, 1))) done();
      else goOn = done;
    },
  });
  return programOf(stream);
}

/** A program with endless output. */
const endless = (): PtyStream =>
  programOf(
    new Duplex({
      read() {
        this.push(Buffer.alloc(65_536, 1));
      },
    }),
  );

const programOf = (stream: Duplex): PtyStream => ({
  stream,
  write: (input, done) => void stream.write(input, (error) => error ?? done?.()),
  muxSession: null,
  requestScrollback: async () => ({ program: 'shell', snapshot: null }),
  redraw: async () => {},
  resize: async () => {},
  ending: async () => ({ kind: 'exited', code: 0 }),
  close: async () => void stream.destroy(),
});

const streamOf = (pty: PtyStream): TerminalStream =>
  ptyTerminal(
    's',
    pty,
    () => {},
    readScheduler(() => performance.now()),
  );

/** A program, the pump of its output, and a client of it on loopback. */
async function aPump(
  t: Test,
  { stallMs, other, autoPong = true }: { stallMs?: number; other?: PtyStream; autoPong?: boolean } = {},
) {
  const backend = fakeTerminals({ muxed: false });
  const pty = other ?? (await backend.open(HANDLE, aTerminal('main')));
  const program = backend.opened[0] as FakePty;
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { autoPong });
  const [socket] = (await once(server, 'connection')) as [WebSocket];
  const frames: number[] = [];
  client.on('message', (data: Buffer) => frames.push(data.length));
  await once(client, 'open');
  const happened = { over: 0, stalled: 0 };
  const listener = { over: () => (happened.over += 1), stalled: () => (happened.stalled += 1) };
  const stream = streamOf(pty);
  const pump = new OutputPump(
    stream,
    { offset: 0, redraw: false, snapshot: null },
    socket,
    listener,
    stallMs,
  );
  t.teardown(() => {
    pump.stop();
    client.terminate();
    server.close();
  });
  const received = (): number => frames.reduce((sum, bytes) => sum + bytes, 0);
  /** Resolves once the service has the pong, with what it leaves unconfirmed. */
  const pong = async (text: string): Promise<number> => {
    const came = once(socket, 'pong');
    client.pong(text);
    await came;
    return stream.unconfirmedBytes();
  };
  return { pty, program, client, socket, stream, frames, received, happened, pong };
}

t.test('a keystroke is sent alone and at once; bulk output is joined', async (t) => {
  const { program, frames, received } = await aPump(t);
  for (let keys = 1; keys <= 20; keys += 1) {
    program.say('x');
    await waitFor(async () => frames.length === keys);
  }
  frames.length = 0;
  for (let lines = 0; lines < 4_000; lines += 1) program.say(`${'y'.repeat(99)}\n`);
  await waitFor(async () => received() === 400_000);
  t.ok(frames.length < 4_000, `${frames.length} frames for 4000 lines`);
  t.ok(Math.max(...frames) <= 65_536);
});

t.test('a reader that stops pauses the program, costs no more, and is closed after a while', async (t) => {
  const { pty, program, client, socket, stream, happened, received } = await aPump(t, { stallMs: 150 });
  client.pause();
  for (let sum = 0; sum < 20 * MIB; sum += 65_536) program.say(Buffer.alloc(65_536, 1));
  await waitFor(async () => pty.stream.isPaused() && stream.unconfirmedBytes() >= MIB);
  t.ok(stream.unconfirmedBytes() < 1.2 * MIB, `${stream.unconfirmedBytes()} bytes are buffered for it`);
  t.ok(socket.bufferedAmount <= 1.2 * MIB);
  await waitFor(() => happened.stalled > 0);
  client.resume();
  await waitFor(async () => received() === 20 * MIB, { what: 'who reads on gets all of it' });
});

t.test('pongs confirm exactly what a reader was sent', async (t) => {
  const { program, received, pong } = await aPump(t);
  program.say(Buffer.alloc(1_000, 1));
  await waitFor(() => received() === 1_000);
  for (const lie of ['1001', '1e9', 'Infinity', '', 'x', '-1']) t.equal(await pong(lie), 1_000, lie);
  t.equal(await pong('400'), 600);
  t.equal(await pong('1000'), 0);
});

t.test('a slow reader is not closed while it makes progress', async (t) => {
  const time = standingTime(t);
  const ofPump = { stallMs: 60_000, other: endless(), autoPong: false };
  const { stream, happened, received, pong } = await aPump(t, ofPump);
  /** The program fills whole frames, so that none waits for the clock. */
  const isFull = (): boolean => stream.isPaused() && received() === stream.bufferedRange().end;
  let confirmed = 0;
  for (const more of [1, 1, 300_000, 1, MIB - 300_003, 1, 1]) {
    await waitFor(isFull, { what: () => `${received()} of ${stream.bufferedRange().end} bytes came` });
    confirmed += more;
    await pong(`${confirmed}`);
    time.pass(50_000);
    t.equal(happened.stalled, 0, `not closed after ${more} more bytes`);
  }
  t.ok(stream.isPaused());
  time.pass(120_000);
  t.equal(happened.stalled, 1, 'closed once it stops, although less than the limit is unconfirmed');
});

t.test('bytes that leave are progress of a reader that confirms none', async (t) => {
  const time = standingTime(t);
  const ofPump = { stallMs: 60_000, other: endless(), autoPong: false };
  const { stream, happened, received } = await aPump(t, ofPump);
  await waitFor(() => stream.isPaused() && received() === stream.bufferedRange().end);
  time.pass(60_000);
  t.equal(happened.stalled, 0, 'the last frame left after the first check');
  time.pass(60_000);
  t.equal(happened.stalled, 1, 'nothing left since');
});

t.test('a heavy terminal shares the event loop with others', async (t) => {
  const flood = await aPump(t, { other: endless() });
  const quiet = await aPump(t);
  for (let keys = 1; keys <= 10; keys += 1) {
    const flooded = flood.frames.length;
    quiet.program.say('x');
    await waitFor(() => quiet.frames.length === keys, { what: 'an echo comes while the flood goes on' });
    await waitFor(() => flood.frames.length > flooded, { what: 'the flood goes on' });
  }
  t.equal(quiet.received(), 10);
});

t.test('sizes faster than the engine accepts are merged', async (t) => {
  let sizes = 0;
  const never = new Promise<void>(() => {});
  const resize = (): Promise<void> => {
    sizes += 1;
    return never;
  };
  const stream = streamOf({ ...amplifier(), resize });
  t.teardown(() => stream.end());
  for (let cols = 1; cols <= 1_000; cols += 1) void stream.resize(cols, 24);
  t.equal(sizes, 1);
});

t.test('a stopped reader that keeps requesting history costs no more', async (t) => {
  const asked: (number | null)[] = [];
  const sent: (() => void)[] = [];
  const rests: { readonly ms: number; readonly end: () => void }[] = [];
  const socket = { send: (_: unknown, done: () => void) => void sent.push(done) };
  const outputs = outputSlots({ slots: 1, slotsPerUser: 1 });
  const answer = async (id: number | null, room: OutputRoom) => {
    asked.push(id);
    await room.more();
    return { type: 'redrawn', id } as const;
  };
  const pause = (ms: number) => new Promise<void>((end) => rests.push({ ms, end }));
  const hold = () => outputs.reserve('ada');
  const checks = frameRequests(socket as unknown as WebSocket, answer, hold, pause);
  t.teardown(() => checks.stop());
  for (let id = 1; id <= 50; id += 1) checks.request(id);
  await waitFor(async () => sent.length === 1);
  for (let id = 51; id <= 100; id += 1) checks.request(id);
  t.same([asked, rests.length], [[1], 0], 'the next one waits until the answer is on its way');
  sent[0]?.();
  await waitFor(async () => rests.length === 1);
  t.same([asked, rests[0]?.ms], [[1], 200], 'and for a while after it');
  rests[0]?.end();
  await waitFor(async () => sent.length === 2);
  t.same(asked, [1, 100], 'and of all that were asked meanwhile the newest is answered');
  let hasRoom = false;
  void outputs
    .reserve('ada')
    .more()
    .then(() => {
      hasRoom = true;
    });
  await new Promise(setImmediate);
  t.notOk(hasRoom, 'what is not read takes its room');
  checks.stop();
  await waitFor(async () => hasRoom);
});

t.test('empty frames count too', async (t) => {
  let paused = 0;
  const pause = (): void => {
    paused += 1;
  };
  const came = inputLimit(new SocketPause({ pause, resume: () => {} }), () => 0);
  for (let frames = 0; frames < 30_000; frames += 1) came(0);
  t.equal(paused, 0);
  for (let frames = 0; frames < 10_000; frames += 1) came(0);
  t.equal(paused, 1);
});

t.test('a client that keeps asking without reading gets no answers until it reads', async (t) => {
  const unsent: (() => void)[] = [];
  const socket = { send: (_data: unknown, done: () => void) => void unsent.push(done) } as unknown;
  const answer = answersOf(socket as WebSocket);
  for (let asked = 0; asked < 1_000; asked += 1) answer({ type: 'pong', t: asked });
  t.equal(unsent.length, 64);
  for (const done of unsent.splice(0)) done();
  answer({ type: 'pong', t: 0 });
  t.equal(unsent.length, 1);
});

t.test('the end comes after all output', async (t) => {
  const { program, received, happened } = await aPump(t);
  program.say(Buffer.alloc(5 * MIB, 1));
  program.say('bye');
  program.end();
  await waitFor(async () => happened.over === 1);
  await waitFor(() => received() === 5 * MIB + 3);
  t.equal(happened.over, 1);
});

t.test('a large paste does not deadlock a program that writes more than it reads', async (t) => {
  const { client, socket, stream, received, happened } = await aPump(t, { other: amplifier() });
  const acks: number[] = [];
  const intake = new InputIntake(stream, new SocketPause(socket), (offset) => acks.push(offset));
  t.teardown(() => intake.stop());
  socket.on('message', (data: Buffer) => intake.take(data));
  for (let sum = 0; sum < MIB; sum += 16_384) client.send(Buffer.alloc(16_384, 1));
  await waitFor(() => received() === 20 * MIB, { what: () => `${received()} bytes came` });
  await waitFor(() => acks.at(-1) === MIB, { what: 'and all input is acknowledged' });
  t.ok(acks.length < 40, `in ${acks.length} messages`);
  t.equal(happened.stalled, 0);
});
