/** Processes on one bus, each of which publishes its share of the changes and hears those of all others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../load.ts';
import { type Program, startProgram } from '../servers.ts';

/** For what is on its way. */
const DRAIN_MS = 1_500;

/** From the bench to a process. */
export type Order = { readonly publish: Load } | { readonly report: true };
export type Load = {
  readonly perSecond: number;
  readonly seconds: number;
  /** Whether all messages are the same, so that those of one moment become one. */
  readonly areEqual: boolean;
};
/** What a process has seen since the last report. */
export type Report = {
  readonly published: number;
  readonly heard: number;
  /** Of a sample. */
  readonly delaysMs: readonly number[];
  readonly processorMs: number;
};

export type Crossing = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverMs: number;
  /** Of each process. */
  readonly replicaMs: number;
  /** `-` where equal messages become one. */
  readonly lost: number | '-';
};

export const startReplicas = (url: string, count: number): Promise<readonly Program<unknown>[]> =>
  Promise.all(Array.from({ length: count }, () => startProgram('bus-server.ts', [url])));

/** `usedMs`: processor time of the server so far. */
export async function measureCrossing(
  all: readonly Program<unknown>[],
  load: Load,
  usedMs: () => number,
): Promise<Crossing> {
  await reports(all);
  const before = usedMs();
  const share = { ...load, perSecond: load.perSecond / all.length };
  for (const { send } of all) send({ publish: share } satisfies Order);
  await sleep(load.seconds * 1_000 + DRAIN_MS);
  const serverMs = usedMs() - before;
  const heard = await reports(all);
  const sum = (of: (report: Report) => number): number => heard.reduce((total, one) => total + of(one), 0);
  const expected = sum(({ published }) => published) * (all.length - 1);
  const delays = heard.flatMap(({ delaysMs }) => delaysMs);
  return {
    p50Ms: quantile(delays, 0.5),
    p99Ms: quantile(delays, 0.99),
    serverMs,
    replicaMs: sum(({ processorMs }) => processorMs) / all.length,
    lost: load.areEqual ? '-' : expected - sum((report) => report.heard),
  };
}

const reports = (all: readonly Program<unknown>[]): Promise<readonly Report[]> =>
  Promise.all(all.map(({ ask }) => ask<Report>({ report: true } satisfies Order)));
