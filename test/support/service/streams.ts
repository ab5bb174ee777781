import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { Test } from 'tap';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import { ok } from '../../../src/domain/result.ts';
import { eventually } from '../patience.ts';
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
      return { events, end: async () => void output.destroy() };
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

export type OpenStream = {
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
      await eventually(
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
