import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import pino from 'pino';
import t from 'tap';
import { CommandOutput } from '../../../src/adapters/agents/command-output.ts';
import { DownloadStream } from '../../../src/adapters/agents/download-stream.ts';
import { listingOf } from '../../../src/adapters/agents/folder-listing.ts';
import { AgentHub, agentPorts } from '../../../src/adapters/agents/index.ts';
import { ShellStream } from '../../../src/adapters/agents/shell-stream.ts';
import { AGENT_NODE } from '../../../src/domain/containers/agents/agent.ts';
import {
  encodeChannelFrame,
  type Sent,
  type StreamNumber,
} from '../../../src/protocol/agent/channel-frames.ts';
import {
  type Channel,
  type ChannelHandlers,
  encodeEntry,
  Peer,
  readGreeting,
  readWelcome,
} from '../../../src/protocol/agent/index.ts';
import { WINDOW_BYTES } from '../../../src/protocol/agent/limits.ts';
import { encodeNumbered } from '../../../src/protocol/agent/line-messages.ts';
import { COMMAND, session, shellRequest } from '../../support/agent/lines.ts';

const MIB = 1_048_576;

/** A listing from an agent that sends these parts of it. */
async function listed(parts: Iterator<Buffer, undefined>) {
  const agent = { sentBytes: 0, isEnded: false };
  const opened = (_request: unknown, channel: Channel): ChannelHandlers => {
    let part = parts.next().value;
    const send = (): void => {
      while (channel.isOpen && part !== undefined) {
        const bytes = channel.write(part);
        agent.sentBytes += bytes;
        if (bytes < part.length) {
          part = part.subarray(bytes);
          return;
        }
        part = parts.next().value;
      }
      if (channel.isOpen) channel.finish({ type: 'file_open', complete: true });
    };
    channel.accept({ type: 'listing' });
    send();
    return {
      room: send,
      reset: () => {
        agent.isEnded = true;
      },
    };
  };
  const broken = (words: string): never => {
    throw new Error(words);
  };
  const there = new Peer({ role: 'agent', opened, broken });
  const here = new Peer({ role: 'service', broken });
  const lineTo = (peer: Peer) => ({
    send: (message: Uint8Array) => queueMicrotask(() => peer.receive(message)),
    bufferedBytes: 0,
  });
  here.attach(lineTo(there), 0);
  there.attach(lineTo(here), 0);
  const stream = new DownloadStream();
  await stream.open(here, { type: 'file_open', path: '', folder_as: 'listing' });
  return { agent, listing: () => listingOf(stream, undefined) };
}

const entry = (name: string): Buffer =>
  Buffer.from(encodeEntry({ name, kind: 'file', size_bytes: 1, mode: 0o644, modified_at: 0 }));

t.test('a listing is read wherever it is cut', async (t) => {
  const names = ['a', 'ü'.repeat(255), '\u0001'.repeat(255), '\u{1f600}'];
  const bytes = Buffer.concat(names.map(entry));
  for (const size of [1, 7, bytes.length]) {
    const { listing } = await listed(
      (function* () {
        for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        return undefined;
      })(),
    );
    const { entries, complete } = await listing();
    t.same(
      entries.map(({ name }) => name),
      names,
      `pieces of ${size}`,
    );
    t.ok(complete);
  }
});

t.test('a line of a listing that does not end is not kept, and ends the channel', async (t) => {
  const { agent, listing } = await listed(
    (function* () {
      for (let count = 0; count < 16; count += 1) yield Buffer.alloc(MIB, 'x');
      return undefined;
    })(),
  );
  await t.rejects(listing(), { name: 'RuntimeFailure' });
  t.ok(agent.sentBytes <= 4 * MIB, `the agent could send ${agent.sentBytes} bytes`);
  await new Promise((resolve) => setImmediate(resolve));
  t.ok(agent.isEnded);
});

const PIECE = Buffer.alloc(4_096, 'x');

/** A shell's stream, and its agent's channel. */
function aShell() {
  const both = session();
  const stream = new ShellStream();
  const opened = both.open(
    shellRequest(),
    stream.handlers(
      () => {},
      () => {},
    ),
  );
  stream.uses(opened.service);
  both.settle();
  return { stream, channel: opened.agent(), settle: both.settle };
}

t.test('waiting output is read in a few large pieces, however small its frames were', async (t) => {
  const { stream, channel, settle } = aShell();
  while (channel.room > 0) {
    channel.write(PIECE);
    settle();
  }
  const sizes: number[] = [];
  let received = 0;
  stream.on('data', (chunk: Buffer) => {
    received += chunk.length;
    sizes.push(chunk.length);
  });
  channel.finish({ type: 'shell', exit_code: 0, signal: null });
  settle();
  await once(stream, 'end');
  t.equal(received, WINDOW_BYTES.shell);
  t.ok(sizes.length <= 6, `${sizes.length} reads: ${sizes}`);
  t.ok(Math.max(...sizes) <= 65_536);
});

/** A session, and what an agent that joins nothing sends in a channel of it. */
function unjoined() {
  const both = session();
  const send = (channel: { readonly id: number }, sent: Sent): void =>
    both.service.receive(encodeNumbered(both.service.received, encodeChannelFrame(channel.id, sent)));
  return {
    ...both,
    send,
    sendBytes: (
      channel: { readonly id: number },
      count: number,
      streamOf: (at: number) => StreamNumber = () => 0,
    ): void => {
      for (let at = 0; at < count; at += 1)
        send(channel, { type: 'data', stream: streamOf(at), bytes: Uint8Array.of(at) });
    },
  };
}

const bytesUpTo = (count: number): Buffer => Buffer.from(Uint8Array.from({ length: count }, (_, at) => at));

t.test("a command's output in frames of one byte is read in a few pieces", async (t) => {
  const streams: ((at: number) => StreamNumber)[] = [() => 1, (at) => (at % 2 === 0 ? 1 : 2)];
  for (const streamOf of streams) {
    const { open, send, sendBytes, broken } = unjoined();
    const output = new CommandOutput();
    const { service } = open(COMMAND, output.handlers());
    output.uses(service);
    send(service, { type: 'accepted', reply: { type: 'exec', pid: 1, terminal: false } });
    sendBytes(service, WINDOW_BYTES.exec, streamOf);
    send(service, {
      type: 'result',
      result: { type: 'exec', exit_code: 0, signal: null, timed_out: false, cut: false },
    });
    const pieces: { readonly stream: StreamNumber; readonly data: Buffer }[] = [];
    let next = await output.next();
    for (; next !== null && 'data' in next; next = await output.next()) pieces.push(next);
    t.match(next, { exit_code: 0 });
    t.ok(pieces.length < 2_000, `${pieces.length} pieces`);
    const all = bytesUpTo(WINDOW_BYTES.exec);
    for (const stream of [1, 2]) {
      const read = Buffer.concat(pieces.filter((piece) => piece.stream === stream).map(({ data }) => data));
      t.ok(
        read.equals(all.filter((_, at) => streamOf(at) === stream)),
        `stream ${stream} has its bytes in order`,
      );
    }
    t.same(broken, []);
  }
});

t.test(
  'a download in frames of one byte waits in a few pieces, before its reader and while it reads',
  async (t) => {
    const { service: peer, send, sendBytes } = unjoined();
    const stream = new DownloadStream();
    void stream.open(peer, { type: 'file_open', path: '', folder_as: 'archive' });
    const channel = { id: 1 };
    send(channel, { type: 'accepted', reply: { type: 'archive' } });
    sendBytes(channel, 20_000);
    stream.once('data', () => stream.pause());
    await once(stream, 'pause');
    sendBytes(channel, 20_000);
    await new Promise((resolve) => setImmediate(resolve));
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.resume();
    send(channel, { type: 'result', result: { type: 'file_open', complete: true } });
    await once(stream, 'end');
    t.ok(pieces.length < 10, `${pieces.length} pieces`);
    t.equal(Buffer.concat(pieces).subarray(-20_000).compare(bytesUpTo(20_000)), 0);
  },
);

t.test('only what is read gives credit', async (t) => {
  const { stream, channel, settle } = aShell();
  while (channel.write(PIECE) > 0) settle();
  settle();
  t.equal(channel.room, 0, 'nobody reads');
  stream.once('data', () => stream.pause());
  await once(stream, 'pause');
  settle();
  t.ok(channel.room > 0 && channel.room < WINDOW_BYTES.shell, `${channel.room} bytes of credit`);
  stream.destroy();
});

/** A greeting as agents sent it before they gave commands terminals. */
const OLDER_GREETING = {
  type: 'greeting',
  version: 1,
  session: null,
  received: 0,
  agent: {
    id: randomUUID(),
    name: 'old',
    version: '0',
    hostname: 'old',
    platform: 'linux',
    arch: 'x64',
    user: 'ada',
    home: '/home/ada',
  },
};

t.test('an agent that gives commands no terminal is not asked to run one in it', async (t) => {
  const hub = new AgentHub(pino({ level: 'silent' }));
  const dbId = randomUUID();
  const sent: Uint8Array[] = [];
  const line = { send: (bytes: Uint8Array) => void sent.push(bytes), bufferedBytes: 0, close: () => {} };
  const greeting = readGreeting(Buffer.from(`\x01${JSON.stringify(OLDER_GREETING)}`));
  if (!greeting.ok) throw new Error(greeting.error.code);
  const attached = hub.attach({ dbId, epoch: 1 }, line, greeting.value);
  const { commands } = agentPorts(hub, new Date());
  const handle = { node: AGENT_NODE, runtimeId: `agent:${dbId}` };
  const terminal = { term: 'xterm', cols: 80, rows: 24 };
  const opening = commands.open(handle, { command: ['rm', 'it'], timeoutSeconds: 20, terminal });
  const asked = sent.filter((bytes) => !readWelcome(bytes).ok);
  hub.end({ dbId, epoch: 1 }, 'forgotten');
  attached.gone();
  await t.rejects(opening, { name: 'NotOffered' });
  t.same(asked, [], 'the agent got the welcome only');
});
