import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type { Service } from '../../../src/app/main/service.ts';
import { ok } from '../../../src/domain/result.ts';
import { aFolder } from '../folder.ts';
import { eventually, waitFor, waitForValue } from '../patience.ts';
import type { Cluster } from './cluster.ts';
import type { Bearer } from './service.ts';

/** How often a stream that never ends says something. */
const EVERY_MS = 20;

/** Logs, commands, files and uploads that never come to their end by themselves, and how many are still at work. */
export function endless() {
  let atWork = 0;
  const ticks = (): Readable => {
    atWork += 1;
    const stream = new Readable({ read() {} });
    const timer = setInterval(() => stream.push('tick\n'), EVERY_MS);
    stream.once('close', () => {
      clearInterval(timer);
      atWork -= 1;
    });
    return stream;
  };
  const insight: Ports['insight'] = {
    logs: async () => ticks(),
    usage: async () => Promise.reject(new Error('not asked for')),
    load: async () => Promise.reject(new Error('not asked for')),
    changes: async () => Promise.reject(new Error('not asked for')),
  };
  const files: Ports['files'] = {
    open: async () => ok({ kind: 'archive', content: ticks() }),
    async write(_handle, _path, content) {
      atWork += 1;
      try {
        for await (const _ of content);
        return ok({ sizeBytes: 0, isNew: true });
      } finally {
        atWork -= 1;
      }
    },
    remove: async () => ok(null),
  };
  const commands: Ports['commands'] = {
    async open() {
      const output = ticks();
      const events = (async function* () {
        for await (const data of output) yield { kind: 'output', stream: 'stdout', data } as const;
      })();
      const ignored = async (): Promise<void> => {};
      return { events, end: async () => void output.destroy(), signal: ignored, resize: ignored };
    },
  };
  return { ports: { insight, files, commands }, atWork: () => atWork };
}

export const STREAMS = ['log', 'command', 'download', 'upload'] as const;
type Kind = (typeof STREAMS)[number];

const ASKS: Readonly<Record<Kind, readonly [method: string, path: string, accept: string]>> = {
  log: ['GET', 'logs?follow=true', '*/*'],
  command: ['POST', 'exec', 'application/x-ndjson'],
  download: ['GET', 'files?path=', '*/*'],
  upload: ['PUT', 'files?path=a', '*/*'],
};

type Fate = 'cut off' | 'whole' | 'still open';
const hasEnded = (fate: Fate): boolean => fate !== 'still open';

type OpenStream = {
  /** Resolves once it has ended. */
  readonly cut: () => Promise<Fate>;
  /** Whether more of it passes. */
  readonly goesOn: () => Promise<boolean>;
  readonly received: () => number;
};

/** One exchange that goes on: under way when this answers; it ends with `t`. */
export async function openStream(
  t: Test,
  { dbId }: Pick<Cluster, 'dbId'>,
  address: string,
  { token }: Bearer,
  kind: Kind,
): Promise<OpenStream> {
  const [method, path, accept] = ASKS[kind];
  const request = httpRequest(`${address.replace('ws', 'http')}/api/containers/${dbId}/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' },
  });
  t.teardown(() => request.destroy());
  let end: Fate = 'still open';
  let received = 0;
  /** Pieces that came, or were taken. */
  let passed = 0;
  request.on('error', () => {
    end = 'cut off';
  });
  if (kind === 'upload') sendForEver(request, () => void passed++);
  else await receive(request, kind);
  async function receive(asked: typeof request, of: Kind): Promise<void> {
    asked.end(of === 'command' ? '{"command":["tail","-f"]}' : undefined);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`${of} was answered ${answer.statusCode}`);
    answer.on('error', () => {});
    answer.on('data', (chunk: Buffer) => {
      received += chunk.length;
      passed += 1;
    });
    answer.once('close', () => {
      end = answer.complete ? 'whole' : 'cut off';
    });
    await once(answer, 'data');
  }
  return {
    received: () => received,
    cut: () => eventually(() => end, hasEnded),
    async goesOn() {
      const before = passed;
      await waitForValue(
        () => end,
        () => passed >= before + 2 || hasEnded(end),
      );
      return !hasEnded(end);
    },
  };
}

function sendForEver(request: ReturnType<typeof httpRequest>, taken: () => void): void {
  const timer = setInterval(() => request.write('tick\n', (error) => error ?? taken()), EVERY_MS);
  request.once('close', () => clearInterval(timer));
  request.once('error', () => clearInterval(timer));
}

/** Makes the service listen on a unix socket, whose buffers in the kernel are small, until `t` ends. */
export async function listenOnUnix(t: Test, { http }: Pick<Service, 'http'>): Promise<string> {
  const socketPath = path.join(aFolder(t), 'http');
  await http.listen({ path: socketPath });
  t.teardown(() => closeAtOnce(http));
  return socketPath;
}

const END_EVERY_MS = 20;

/** Closes a server that listens, and ends every connection, also those of a request or an upgrade in progress. */
export async function closeAtOnce(http: Service['http']): Promise<void> {
  const ending = setInterval(() => {
    for (const client of http.websocketServer.clients) client.terminate();
    http.server.closeAllConnections();
  }, END_EVERY_MS);
  await http.close();
  clearInterval(ending);
}

/** A connection that sends this and reads nothing. */
export async function unreadConnection(t: Test, socketPath: string, bytes: string): Promise<Socket> {
  const socket = connect(socketPath);
  t.teardown(() => socket.destroy());
  socket.on('error', () => {}).pause();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

export type Message = {
  readonly type: string;
  readonly id?: string;
  readonly time?: string;
  readonly data?: Readonly<Record<string, unknown>>;
};

export type EventClient = {
  readonly socket: WebSocket;
  readonly messages: readonly Message[];
  /** Waits until something is so; throws when it is not in time. */
  until(check: () => boolean): Promise<void>;
  closed(): Promise<readonly [code: number, reason: string]>;
};

/** A subscriber of events that is connected. */
export async function eventClient(
  address: string,
  token: string,
  after: string | null = null,
): Promise<EventClient> {
  const query = after === null ? '' : `?after=${encodeURIComponent(after)}`;
  const url = `${address}/api/events${query}`;
  const socket = new WebSocket(url, ['berth.events.v1', `bearer.${token}`]);
  const messages: Message[] = [];
  let close: readonly [number, string] | null = null;
  let failure: unknown = null;
  socket.on('error', (error) => {
    failure = error;
  });
  socket.on('close', (code, reason) => {
    close = [code, String(reason)];
  });
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  const until = (check: () => boolean): Promise<void> =>
    waitFor(check, { what: () => `${check}; ${JSON.stringify(messages)} ${close}` });
  await until(() => socket.readyState === WebSocket.OPEN || close !== null);
  if (close !== null) throw new Error(`refused: ${failure ?? close}`);
  return {
    socket,
    messages,
    until,
    async closed() {
      await until(() => close !== null);
      return close as unknown as [number, string];
    },
  };
}

export type Follower = {
  /** All that came, over all connections. */
  readonly messages: readonly Message[];
  /** How often it has connected. */
  connections(): number;
  /** Cuts the line; it comes back by itself. */
  cut(): void;
  until(check: () => boolean, withinMs?: number): Promise<void>;
};

const RETRY_MS = 100;
const PATIENCE_MS = 60_000;

/** A client that comes back by the id of the last event whenever its line ends, until `t` ends. */
export async function followEvents(t: Test, address: () => string, token: string): Promise<Follower> {
  const messages: Message[] = [];
  let current: EventClient | null = null;
  let connections = 0;
  let over = false;

  const connect = async (): Promise<EventClient | null> => {
    const last = messages.findLast(({ id }) => id !== undefined)?.id ?? null;
    return await eventClient(address().replace(/^http/, 'ws'), token, last).catch(() => null);
  };
  const keepConnected = async (): Promise<void> => {
    while (!over) {
      const client = await connect();
      if (client === null) {
        // The pace of a client; nothing is waited for.
        await sleep(RETRY_MS);
        continue;
      }
      current = client;
      connections += 1;
      const ended = new Promise((resolve) => client.socket.once('close', resolve));
      messages.push(...client.messages);
      client.socket.on('message', (data) => messages.push(JSON.parse(String(data))));
      if (client.socket.readyState < 2) await ended;
    }
  };
  void keepConnected();
  t.teardown(() => {
    over = true;
    current?.socket.terminate();
  });
  await waitFor(() => connections > 0, { patienceMs: PATIENCE_MS, what: 'the follower connects' });
  return {
    messages,
    connections: () => connections,
    cut: () => current?.socket.terminate(),
    until: (check, patienceMs = PATIENCE_MS) =>
      waitFor(check, { patienceMs, what: () => `${check}; the last: ${JSON.stringify(messages.slice(-5))}` }),
  };
}
