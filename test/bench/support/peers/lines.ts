/** A terminal over each peer, as a line. What a way holds can be sent to another process. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { WebSocket } from 'ws';
import { addressOf, probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import type { Side } from '../report/rows.ts';
import { type Line, lineOf, serviceLine } from '../terminals/scene.ts';

export type Way =
  | { readonly by: 'base'; readonly endpoint: string; readonly runtimeId: string }
  | { readonly by: 'ttyd'; readonly port: number; readonly runtimeId: string }
  | { readonly by: 'berth'; readonly address: string; readonly token: string; readonly dbId: string };
export type Ways = Readonly<Partial<Record<Side, Way>>>;

export type Take = (chunk: Buffer) => void;

const SHELL = ['/bin/bash', '-l'];
const LEAVE_MS = 1_000;

/** A new terminal whose output goes to `take` from the first byte on. */
export async function connect(way: Way, pane: string, take: Take): Promise<Line> {
  switch (way.by) {
    case 'base':
      return await bareLine(way.endpoint, way.runtimeId, take);
    case 'ttyd':
      return await ttydLine(way.port, [way.runtimeId, ...SHELL], take);
    case 'berth':
      return await serviceLine(way, way.dbId, pane, take);
  }
}

// The hijacked stream of an exec, read in this process.

const dockers = new Map<string, Docker>();

async function dockerOf(endpoint: string): Promise<Docker> {
  const known = dockers.get(endpoint);
  if (known !== undefined) return known;
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers) throw new Error('the engine does not answer');
  dockers.set(endpoint, answer.docker);
  return answer.docker;
}

async function bareLine(endpoint: string, runtimeId: string, first: Take): Promise<Line> {
  const docker = await dockerOf(endpoint);
  const exec = await docker.getContainer(runtimeId).exec({
    Cmd: SHELL,
    Env: ['TERM=xterm-256color'],
    Tty: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream: Duplex = await exec.start({ hijack: true, stdin: true, Tty: true });
  const closed = once(stream, 'close').catch(() => undefined);
  let take = first;
  stream.on('data', (chunk: Buffer) => take(chunk));
  return lineOf({
    write: (text) => stream.write(text),
    read: (next) => {
      take = next;
    },
    stopReading: () => stream.pause(),
    async close() {
      stream.write('exit\r');
      await Promise.race([closed, delay(LEAVE_MS)]);
      stream.destroy();
    },
  });
}

// ttyd: a WebSocket whose messages begin with a character for their kind.

/** For the shell to end: a client that goes leaves it in the container. */
const TTYD_LEAVES_MS = 300;
const [OUTPUT, INPUT] = ['0'.charCodeAt(0), '0'];

/** `args` follow the server's command. */
async function ttydLine(port: number, args: readonly string[], first: Take): Promise<Line> {
  const query = args.map((arg) => `arg=${encodeURIComponent(arg)}`).join('&');
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?${query}`, ['tty'], { perMessageDeflate: false });
  let take = first;
  socket.on('message', (data: Buffer) => {
    if (data[0] === OUTPUT) take(data.subarray(1));
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ AuthToken: '', columns: 80, rows: 24 }));
  const write = (text: string): void => socket.send(Buffer.from(INPUT + text));
  return lineOf({
    write,
    read: (next) => {
      take = next;
    },
    stopReading: () => socket.pause(),
    async close() {
      if (socket.readyState === socket.OPEN) write('exit\r');
      await delay(TTYD_LEAVES_MS);
      socket.terminate();
    },
  });
}
