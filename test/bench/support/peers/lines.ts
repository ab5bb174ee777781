/** A terminal over each peer, as a line. What a way holds can be sent to another process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type Docker from 'dockerode';
import { addressOf, probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import type { Side } from '../report/rows.ts';
import { type Line, lineOf, serviceLine } from '../terminals/scene.ts';
import { ttydLine, wettyLine } from './web-lines.ts';

export type Way =
  | { readonly by: 'base' | 'client'; readonly endpoint: string; readonly runtimeId: string }
  | { readonly by: 'ttyd'; readonly port: number; readonly runtimeId: string }
  | { readonly by: 'wetty'; readonly port: number; readonly folder: string; readonly runtimeId: string }
  | { readonly by: 'berth'; readonly address: string; readonly token: string; readonly dbId: string };
export type Ways = Readonly<Partial<Record<Side, Way>>>;

/** `pid`: of a program that serves only this line. */
export type PeerLine = Line & { readonly pid?: number };
export type Take = (chunk: Buffer) => void;

const SHELL = ['/bin/bash', '-l'];
const LEAVE_MS = 1_000;

/** A new terminal whose output goes to `take` from the first byte on. */
export async function connect(way: Way, pane: string, take: Take): Promise<PeerLine> {
  switch (way.by) {
    case 'base':
      return await bareLine(way.endpoint, way.runtimeId, take);
    case 'client':
      return clientLine(way.endpoint, way.runtimeId, take);
    case 'ttyd':
      return await ttydLine(way.port, [way.runtimeId, ...SHELL], take);
    case 'wetty':
      return await wettyLine(way, take);
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

async function bareLine(endpoint: string, runtimeId: string, first: Take): Promise<PeerLine> {
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

// The engine's own client, under a pseudoterminal of `script`.

export const clientCommand = (endpoint: string): readonly string[] => [
  'docker',
  '-H',
  endpoint,
  'exec',
  '-it',
];

function clientLine(endpoint: string, runtimeId: string, first: Take): PeerLine {
  const command = [...clientCommand(endpoint), runtimeId, ...SHELL].join(' ');
  const child = spawn('script', ['-qfc', `exec ${command}`, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm-256color', SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit').catch(() => undefined);
  // A client that has ended takes no more input; its missing output shows.
  child.stdin.on('error', () => undefined);
  let take = first;
  child.stdout.on('data', (chunk: Buffer) => take(chunk));
  const line = lineOf({
    write: (text) => child.stdin.write(text),
    read: (next) => {
      take = next;
    },
    stopReading: () => child.stdout.pause(),
    async close() {
      child.stdin.write('exit\r');
      await Promise.race([ended, delay(LEAVE_MS)]);
      // Its client is hung up on.
      child.kill('SIGKILL');
      await ended;
    },
  });
  return { ...line, ...(child.pid === undefined ? {} : { pid: child.pid }) };
}
