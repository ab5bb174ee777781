/** One engine with containers of the service, whose terminals open both through the service and without it. */

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { WebSocket } from 'ws';
import { dockerTerminals } from '../../../../src/adapters/docker/container-access.ts';
import type { PtyStream } from '../../../../src/ports/terminals/terminal-backend.ts';
import { administrator, type Client } from '../load.ts';
import { installation, type WholeService } from '../whole-service.ts';

export const SIDES = ['bare', 'berth'] as const;
export type Side = (typeof SIDES)[number];

export type Box = { readonly dbId: string; readonly runtimeId: string; readonly hasTmux: boolean };

export type Scene = {
  readonly service: WholeService;
  /** The engine's address. */
  readonly endpoint: string;
  /** For opening terminals in another process. */
  readonly at: ServiceAddress;
  /** A running container, with a multiplexer or without. */
  box(name: string, options?: { readonly tmux?: boolean; readonly memoryMb?: number }): Promise<Box>;
  /** A terminal in it at its first prompt; both sides run the same command line. */
  open(side: Side, box: Box, pane?: string): Promise<Line>;
  remove(box: Box): Promise<void>;
  /** The service's interface, for its administrator. */
  readonly admin: Client;
  stop(): Promise<void>;
};

export async function aScene(): Promise<Scene> {
  const { docker, endpoint, service, stop } = await installation({ BERTH_DISK_QUOTA: 'soft' });
  try {
    const admin = await administrator(service.address, service.setupCode);
    return {
      service,
      endpoint,
      ...parts(admin, { address: service.address, token: admin.token ?? '' }, async (box, pane) =>
        bareLine(await bareTerminal(docker, box.runtimeId, pane)),
      ),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `bare` opens a terminal without the service. */
export function parts(
  admin: Client,
  at: ServiceAddress,
  bare: (box: Box, pane?: string) => Promise<Line>,
): Omit<Scene, 'service' | 'endpoint' | 'stop'> {
  return {
    at,
    admin,
    async box(name, { tmux = false, memoryMb = 512 } = {}) {
      const resources = { memory_mb: memoryMb, cpu_shares: 1000, disk_mb: 512 };
      const made = await admin.call<{ db_id: string; id: string }>('POST', '/api/containers', {
        name,
        ...resources,
        ...(tmux ? {} : { env: { BERTH_TMUX: 'off' } }),
      });
      return { dbId: made.db_id, runtimeId: made.id, hasTmux: tmux };
    },
    async open(side, box, pane = `p${randomUUID()}`) {
      const line = side === 'berth' ? await serviceLine(at, box.dbId, pane) : await bare(box, pane);
      return await promptOf(line);
    },
    remove: async ({ dbId }) => void (await admin.call('DELETE', `/api/containers/${dbId}`)),
  };
}

/** A terminal of the engine, opened like the service does. */
export const bareTerminal = (
  docker: Docker,
  runtimeId: string,
  pane = `p${randomUUID()}`,
): Promise<PtyStream> => dockerTerminals(docker).open({ node: 'bench', runtimeId }, aRequest(pane));

/** The line, once its shell has its first prompt. */
export async function promptOf(line: Line): Promise<Line> {
  line.write('PS1="> "; echo here-$((40+2))\r');
  await line.until('here-42');
  await delay(50);
  return line;
}

export const aRequest = (pane: string) => ({
  cols: 80,
  rows: 24,
  muxSession: `bare-${pane}`,
  forceNew: false,
  marker: `bench-${pane}`,
  shell: '/bin/bash',
});

// A terminal as its user sees it: input and output in bytes, over any transport.

export type Line = {
  write(text: string): void;
  /** Sends later output to `take` only. */
  read(take: (chunk: Buffer) => void): void;
  /** Waits for a text in later output. */
  until(text: string, seconds?: number): Promise<void>;
  /** Stops reading, so that output waits. */
  stopReading(): void;
  close(): Promise<void>;
};

/** The engine's own hijacked stream: the baseline. */
export function bareLine(pty: PtyStream): Line {
  let take = (_chunk: Buffer): void => {};
  pty.stream.on('data', (chunk: Buffer) => take(chunk));
  return lineOf({
    write: (text) => pty.write(text),
    read: (next) => {
      take = next;
    },
    stopReading: () => pty.stream.pause(),
    close: () => pty.close(),
  });
}

type ServiceAddress = { readonly address: string; readonly token: string };

/** A terminal of the service over its WebSocket, ready for input. Output goes to `first` until `read`. */
export async function serviceLine(
  { address, token }: ServiceAddress,
  container: string,
  pane: string,
  first = (_chunk: Buffer): void => {},
): Promise<Line> {
  const url = `${address.replace('http', 'ws')}/api/containers/${container}/terminal?connection_id=${pane}`;
  const protocols = ['berth.terminal.v1', `bearer.${token}`];
  const socket = new WebSocket(url, protocols, { perMessageDeflate: false, origin: address });
  let take = first;
  const ready = Promise.withResolvers<void>();
  socket.on('message', (data: Buffer, isBinary) => {
    if (isBinary) take(data);
    else if (data.includes('"ready"')) ready.resolve();
  });
  socket.once('close', (code, reason) => ready.reject(new Error(`closed with ${code} ${reason}`)));
  socket.once('error', (error) => ready.reject(error));
  await ready.promise;
  return lineOf({
    write: (text) => socket.send(Buffer.from(text)),
    read: (next) => {
      take = next;
    },
    stopReading: () => socket.pause(),
    async close() {
      if (socket.readyState === socket.CLOSED) return;
      socket.resume();
      socket.close(1000);
      await Promise.race([once(socket, 'close'), delay(5_000)]);
      socket.terminate();
    },
  });
}

/** Anything writable and readable, as a line. */
export function lineOf(line: Omit<Line, 'until'>): Line {
  return {
    ...line,
    async until(text, seconds = 60) {
      const found = Promise.withResolvers<void>();
      const late = setTimeout(() => found.reject(new Error(`no ${text} came: ${tail}`)), seconds * 1000);
      let tail = '';
      line.read((chunk) => {
        tail = tail.slice(-text.length) + chunk.toString('latin1');
        if (tail.includes(text)) found.resolve();
      });
      await found.promise.finally(() => clearTimeout(late));
    },
  };
}

export type Figure = {
  readonly what: string;
  /** The engine's own figure; null without a comparison. */
  readonly bare: string | null;
  readonly berth: string;
  readonly ratio: number | null;
  readonly wanted: string;
  readonly isMet: boolean;
};

export type PartOptions = {
  readonly rounds: number;
  /** Idle terminals. */
  readonly idle: number;
  /** Lines of output in each round. */
  readonly lines: number;
  /** At most this often the echo of the engine's own stream. */
  readonly echoRatio: number;
};

export type Part = (scene: Scene, options: PartOptions) => Promise<readonly Figure[]>;
