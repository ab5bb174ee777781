/** One event to many subscribers of a process, and to a subscriber of another. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { median, quantile } from '../load.ts';
import type { Row } from '../report/rows.ts';
import { type Server, startServer } from '../servers.ts';
import { benchToken, onService } from '../whole-service.ts';
import { type Crowd, crowd, leave, protocols, toTheLast } from './crowd.ts';

const WARM_UP = 2;
/** Every second round backwards: what one side leaves to do must not always delay the other. */
const ORDER = ['base', 'berth'] as const;
const ACROSS_WARM_UP = 20;
/** Open files of this process besides the subscribers. */
const SPARE_FILES = 200;
/** For the service to notice that its subscribers left. */
const LEFT_MS = 1_000;

type Options = {
  readonly subscribers: number;
  readonly rounds: number;
  /** Events to a subscriber of another process. */
  readonly across: number;
};
type Subject = { readonly service: Server; readonly owner: string; readonly token: string };

/** The base is `ws` with the same bytes and sockets. */
export const eventRows = ({ subscribers, rounds, across }: Options): Promise<readonly Row[]> =>
  onService(async ({ service, admin, databaseUrl }) => {
    const bare = await startServer('broadcast-server.ts', []);
    try {
      const { id: owner } = await admin.call<{ id: string }>('GET', '/api/me');
      const { token } = await benchToken(admin);
      const subject = { service, owner, token };
      const toMany = await toManyRows(subject, bare, allowed(subscribers), rounds);
      if (across === 0) return toMany;
      await delay(LEFT_MS);
      return [...toMany, ...(await acrossRows(subject, databaseUrl, across))];
    } finally {
      await bare.stop();
    }
  });

/** Both kinds of subscribers are in this process. */
function allowed(subscribers: number): number {
  const [, limit = '0'] = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  const count = Math.min(subscribers, Math.floor((Number(limit) - SPARE_FILES) / 2));
  if (count < subscribers)
    console.log(`${count} subscribers: no more than ${limit} files may be open (ulimit -n)`);
  return count;
}

async function toManyRows(
  { service, owner, token }: Subject,
  bare: Server,
  count: number,
  rounds: number,
): Promise<readonly Row[]> {
  const servers = { base: bare, berth: service };
  const crowds: Record<keyof typeof servers, Crowd> = {
    base: await crowd(bare, count, []),
    berth: await crowd(service, count, protocols(token)),
  };
  const took = { base: [] as number[], berth: [] as number[] };
  const cpu = { base: [] as number[], berth: [] as number[] };
  for (let round = -WARM_UP; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? ORDER : ORDER.toReversed()) {
      const before = await servers[side].cpuMs();
      const ms = await toTheLast(servers[side], crowds[side], owner);
      const cpuMs = (await servers[side].cpuMs()) - before;
      if (round < 0) continue;
      took[side].push(ms);
      cpu[side].push((cpuMs * 1000) / count);
    }
  }
  for (const each of Object.values(crowds)) leave(each);
  const best = [took.base, took.berth].map((all) => Math.min(...all).toFixed(1));
  console.log(`${count} subscribers: best of ws ${best[0]} ms, of the service ${best[1]} ms`);
  const lasting: Row = {
    what: `one event to ${count} subscribers, until the last has it (base: ws), ms`,
    values: { base: median(took.base), berth: median(took.berth) },
    digits: 1,
    targets: [{ of: 'base', atMost: 0.85 }],
  };
  const work: Row = {
    what: 'processor time of an event for each subscriber (base: ws), µs',
    values: { base: median(cpu.base), berth: median(cpu.berth) },
    digits: 1,
    targets: [],
  };
  return [lasting, work];
}

/** From the commit at one process. */
async function acrossRows(
  { service, owner, token }: Subject,
  databaseUrl: string,
  count: number,
): Promise<readonly Row[]> {
  const other = await startServer('service-server.ts', [databaseUrl]);
  try {
    const one = await crowd(other, 1, protocols(token));
    const took: number[] = [];
    for (let n = -ACROSS_WARM_UP; n < count; n += 1) {
      const ms = await toTheLast(service, one, owner);
      if (n >= 0) took.push(ms);
    }
    leave(one);
    return ([0.5, 0.99] as const).map((share) => ({
      what: `one event to a subscriber of another process, p${share * 100}, ms`,
      values: { berth: quantile(took, share) },
      digits: 1,
      targets: [],
    }));
  } finally {
    await other.stop();
  }
}
