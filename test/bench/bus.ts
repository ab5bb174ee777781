/**
 * Messages between processes: delay, and processor time of the database or Redis and of each process, by processes and
 * changes a second. Everything is on loopback. Arguments: sections (`notify`, `redis`), both unless named; `replicas=10`
 * and `rate=500` for one of them alone; `seconds=10` for each; `equal=1` for messages that are all the same, such as those
 * that wake the readers of events.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startRedis } from '../support/redis/redis-server.ts';
import { given, namedSections } from './support/arguments.ts';
import { type Crossing, measureCrossing, startReplicas } from './support/bus/replicas.ts';
import { treeUsedMs } from './support/processor-time.ts';
import { loadNow } from './support/say.ts';
import { emptyDatabase } from './support/whole-service.ts';

const REPLICAS = [2, 5, 10];
const RATES = [10, 100, 500, 2_000];

const only = (name: string, all: readonly number[]): readonly number[] =>
  process.argv.some((arg) => arg.startsWith(`${name}=`)) ? [given(name, 1)] : all;
const seconds = given('seconds', 10);
const areEqual = process.argv.includes('equal=1');

type Carrier = {
  readonly url: string;
  readonly usedMs: () => number;
  readonly stop: () => Promise<unknown>;
};
const CARRIERS = { notify: emptyDatabase, redis: emptyRedis };

const HEAD = [
  '',
  'processes',
  'changes/s',
  'p50 ms',
  'p99 ms',
  'server ms/s',
  'each process ms/s',
  'lost',
  'load',
];
console.log(`| ${HEAD.join(' | ')} |\n|${HEAD.map(() => '---|').join('')}`);
for (const name of namedSections(['notify', 'redis'] as const)) {
  const carrier = await CARRIERS[name]();
  try {
    for (const count of only('replicas', REPLICAS)) await withReplicas(name, carrier, count);
  } finally {
    await carrier.stop();
  }
}

async function emptyRedis(): Promise<Carrier> {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-bench-'));
  const { url, pid, stop } = await startRedis('redis-server', folder);
  const remove = () => rm(folder, { recursive: true, force: true });
  return { url, usedMs: () => treeUsedMs(pid), stop: () => stop().then(remove) };
}

async function withReplicas(name: string, { url, usedMs }: Carrier, count: number): Promise<void> {
  const replicas = await startReplicas(url, count);
  try {
    for (const perSecond of only('rate', RATES)) {
      const load = { perSecond, seconds, areEqual };
      print(name, count, perSecond, await measureCrossing(replicas, load, usedMs));
    }
  } finally {
    await Promise.all(replicas.map(({ stop }) => stop()));
  }
}

function print(name: string, count: number, perSecond: number, crossing: Crossing): void {
  const { p50Ms, p99Ms, serverMs, replicaMs, lost } = crossing;
  const figures = [p50Ms, p99Ms, serverMs / seconds, replicaMs / seconds].map((figure) =>
    Number.isNaN(figure) ? '-' : figure.toFixed(1),
  );
  console.log(`| ${[name, count, perSecond, ...figures, lost, loadNow()].join(' | ')} |`);
}
