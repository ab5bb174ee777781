import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import {
  type Channel,
  type ChannelFault,
  type ChannelNote,
  type ChannelReply,
  type ChannelRequest,
  type ChannelResult,
  type CloseReason,
  encodeClose,
  encodeWelcome,
  type Greeting,
  Peer,
  type RequestOf,
  readGreeting,
} from '../../../src/protocol/agent/index.ts';
import { waitFor } from '../patience.ts';

/** A channel from the service's side, with all that has come. */
export type Talk = {
  readonly channel: Channel;
  readonly reply: () => ChannelReply | null;
  readonly result: () => ChannelResult | null;
  readonly fault: () => ChannelFault | null;
  readonly notes: ChannelNote[];
  /** Of one of its streams, or of all. */
  readonly bytes: (stream?: number) => Buffer;
  /** Writes all of it, as the agent reads. */
  readonly send: (bytes: Uint8Array) => Promise<void>;
  readonly over: () => Promise<ChannelResult | ChannelFault>;
};

export type TestService = {
  readonly address: string;
  readonly greetings: Greeting[];
  /** The reasons that agents gave for closing. */
  readonly closings: string[];
  readonly isConnected: () => boolean;
  readonly open: (request: ChannelRequest, how?: { readonly isSlow?: boolean }) => Talk;
  readonly peer: () => Peer;
  /** Closes the line with a reason. */
  readonly close: (reason: CloseReason) => void;
  /** The line breaks without a word. */
  readonly drop: () => void;
  /** The line stays open, and nothing on it is read. */
  readonly fallSilent: () => void;
  /** Loses the session, as a restarted service does. */
  readonly forget: () => void;
  /** Closes the next lines instead of a welcome; null welcomes them. */
  readonly turnAway: (reason: CloseReason | null) => void;
  /** Answers the next upgrades like this; null accepts them. */
  readonly refuse: (answer: Refusal | null) => void;
  readonly requests: IncomingMessage[];
};

/** `isCut`: its connection ends before its body does. */
type Refusal = { readonly status: number; readonly body: object; readonly isCut?: true };

/** The least that speaks the agent's protocol: one agent, one session. */
export async function testService(t: Test, { host = '127.0.0.1' } = {}): Promise<TestService> {
  const requests: IncomingMessage[] = [];
  const greetings: Greeting[] = [];
  const closings: string[] = [];
  let refusal: Refusal | null = null;
  let turnedAway: CloseReason | null = null;
  let current: { readonly id: string; readonly peer: Peer } | null = null;
  let socket: WebSocket | null = null;
  let greeted: WebSocket | null = null;
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    requests.push(request);
    if (refusal !== null) {
      const body = JSON.stringify(refusal.body);
      const bytes = body.length + (refusal.isCut ? 1 : 0);
      stream.end(
        `HTTP/1.1 ${refusal.status} No\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    sockets.handleUpgrade(request, stream, head, (opened) => serve(opened));
  });

  function serve(opened: WebSocket): void {
    socket?.terminate();
    socket = opened;
    opened.once('message', (first: Buffer) => {
      const read = readGreeting(first);
      if (!read.ok) throw new Error(read.error.code);
      greetings.push(read.value);
      greeted = opened;
      if (turnedAway !== null) {
        opened.send(encodeClose(turnedAway, 'no'));
        return;
      }
      const { session, received } = read.value;
      const resumed = current !== null && current.id === session && current.peer.canResume(received);
      if (!resumed) {
        current?.peer.end();
        current = {
          id: randomUUID(),
          peer: new Peer({
            role: 'service',
            broken: (words) => t.fail(words),
            closed: (reason) => closings.push(reason),
          }),
        };
      }
      const { id, peer } = current as NonNullable<typeof current>;
      opened.send(encodeWelcome({ version: 1, session: id, resumed, received: peer.received }));
      const send = (message: Uint8Array): void => opened.send(message, () => peer.pump());
      const line = {
        send,
        get bufferedBytes() {
          return opened.bufferedAmount;
        },
      };
      peer.attach(line, resumed ? received : 0);
      const flush = setInterval(() => peer.flush(), 50);
      opened.on('message', (message: Buffer) => socket === opened && peer.receive(message));
      opened.on('close', () => {
        clearInterval(flush);
        if (socket !== opened) return;
        socket = null;
        peer.detach();
      });
    });
    opened.on('error', () => {});
  }

  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    for (const one of sockets.clients) one.terminate();
    server.close();
  });
  const peer = (): Peer => {
    if (current === null) throw new Error('no agent has connected');
    return current.peer;
  };
  const isConnected = (): boolean => socket?.readyState === WebSocket.OPEN && socket === greeted;
  return {
    address: `http://${host}:${(server.address() as AddressInfo).port}`,
    greetings,
    closings,
    requests,
    isConnected,
    peer,
    open: (request, how) => talk(peer(), request, how),
    close: (reason) => {
      peer().sayClosing(reason);
      socket?.close();
    },
    drop: () => socket?.terminate(),
    fallSilent: () => socket?.pause(),
    forget: () => {
      current?.peer.end();
      current = null;
      socket?.terminate();
    },
    turnAway: (reason) => {
      turnedAway = reason;
    },
    refuse: (answer) => {
      refusal = answer;
    },
  };
}

/** Bytes that grow, to be seen at any time without a copy. */
function growingBytes() {
  let room = Buffer.alloc(65_536);
  let length = 0;
  return {
    seen: () => room.subarray(0, length),
    add: (bytes: Uint8Array) => {
      const needed = length + bytes.length;
      if (needed > room.length) room = Buffer.concat([room.subarray(0, length)], 2 * needed);
      room.set(bytes, length);
      length = needed;
    },
  };
}

export function talk(peer: Peer, request: ChannelRequest, { isSlow = false } = {}): Talk {
  const all = growingBytes();
  const streams = new Map<number, ReturnType<typeof growingBytes>>();
  const notes: ChannelNote[] = [];
  let [reply, result, fault] = [null, null, null] as [
    ChannelReply | null,
    ChannelResult | null,
    ChannelFault | null,
  ];
  let wake = (): void => {};
  const channel = peer.open(request, {
    accepted: (it) => {
      reply = it;
    },
    data: (stream, bytes) => {
      const one = streams.get(stream) ?? growingBytes();
      streams.set(stream, one);
      for (const each of [all, one]) each.add(bytes);
      if (!isSlow) channel?.consumed(bytes.length);
    },
    note: (it) => notes.push(it),
    finished: (it) => {
      result = it;
      wake();
    },
    reset: (it) => {
      fault = it;
      wake();
    },
    room: () => wake(),
  });
  if (channel === null) throw new Error('too many channels');
  return {
    channel,
    notes,
    reply: () => reply,
    result: () => result,
    fault: () => fault,
    bytes: (stream) => (stream === undefined ? all.seen() : (streams.get(stream)?.seen() ?? Buffer.alloc(0))),
    send: async (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        at += channel.write(bytes.subarray(at));
        if (!channel.isOpen) throw new Error('the channel is over');
        if (at < bytes.length)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
    over: async () => {
      await waitFor(() => result ?? fault, { what: `the end of ${request.type}` });
      return result ?? (fault as unknown as ChannelFault);
    },
  };
}

export const aShell = (shell: string, over: Partial<RequestOf<'shell'>> = {}): RequestOf<'shell'> => ({
  type: 'shell',
  shell,
  cols: 80,
  rows: 24,
  env: { PS1: '$ ', PROMPT_COMMAND: '' },
  after: null,
  create: true,
  force_new: false,
  view: false,
  ...over,
});

export const anExec = (
  command: readonly string[],
  over: Partial<RequestOf<'exec'>> = {},
): RequestOf<'exec'> => ({
  type: 'exec',
  command,
  env: {},
  cwd: null,
  timeout_seconds: null,
  stdin: false,
  terminal: null,
  ...over,
});
