import { coalesced } from '../../../concurrency/coalesce.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { addressGroup, minuteOf, waitMs } from '../../../domain/identity/request-rate.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { RequestCountStore } from '../../../ports/identity/request-count-store.ts';
import {
  adopt,
  markSent,
  noTallies,
  type RequestTallies,
  rollAll,
  tallyOf,
  unsentOf,
} from './request-tallies.ts';

/** Above this share of a limit, counts go to the other processes at once; below it, with the next flush. */
const PUBLISH_AFTER = 0.1;

/** 0: no limit. */
type RequestLimit = { readonly key: string; readonly perMinute: number };

export type RequestLimitDeps = {
  readonly counts: RequestCountStore;
  readonly monotonicMs: () => number;
  /** Wall-clock time until the database has sent its own. */
  readonly startMs: number;
};

export type RequestLimits = ReturnType<typeof requestLimits>;

type Counting = {
  readonly deps: RequestLimitDeps;
  readonly tallies: RequestTallies;
  /** The database's clock minus the monotonic one. */
  aheadMs: number;
  cleanedMinute: number;
  /** What is counted by now has been sent when it resolves. */
  readonly flush: () => Promise<void>;
};

/** Counts requests here and adds them to the other processes' in batches: no request waits for the database. */
export function requestLimits(deps: RequestLimitDeps) {
  const counting: Counting = {
    deps,
    tallies: noTallies(),
    aheadMs: deps.startMs - deps.monotonicMs(),
    cleanedMinute: 0,
    flush: coalesced(() => send(counting)),
  };
  return {
    admit: (key: string, perMinute: number, cost = 1) => admitFor(counting, [{ key, perMinute }], cost),

    /**
     * Counts a request under each key, as `cost` requests, or refuses it under all until it fits. An expensive one is
     * admitted where a single one fits. No limit where `perMinute` is 0.
     */
    admitFor: (asked: readonly RequestLimit[], cost = 1) => admitFor(counting, asked, cost),

    /** For requests without a credential. */
    keyOfAddress: (ipAddress: string): string => `address ${addressGroup(ipAddress)}`,

    /** Sends the counts and receives the others'. Everything counted before has been sent when it resolves. */
    flush: counting.flush,
  };
}

const nowMs = ({ deps, aheadMs }: Counting): number => deps.monotonicMs() + aheadMs;

function admitFor(
  counting: Counting,
  asked: readonly RequestLimit[],
  cost: number,
): Result<null, DomainError> {
  const { tallies } = counting;
  const now = nowMs(counting);
  const minute = minuteOf(now);
  let wait = 0;
  for (const { key, perMinute } of asked) {
    if (perMinute > 0) wait = Math.max(wait, waitMs(tallyOf(tallies, key, minute).tally, perMinute, now));
  }
  if (wait > 0) return refuse({ code: 'rate_limited', retryAfterSeconds: Math.ceil(wait / 1000) });
  for (const { key, perMinute } of asked) {
    if (perMinute === 0) continue;
    const entry = tallyOf(tallies, key, minute);
    entry.tally = { ...entry.tally, count: entry.tally.count + cost };
    entry.unsent += cost;
    // The awaited flush meets the fault again.
    if (entry.unsent >= perMinute * PUBLISH_AFTER) counting.flush().catch(() => undefined);
  }
  return FINE;
}

const FINE = ok(null);

async function send(counting: Counting): Promise<void> {
  const { deps, tallies } = counting;
  const minute = minuteOf(nowMs(counting));
  rollAll(tallies, minute);
  const lateCount = tallies.late.length;
  const batch = unsentOf(tallies);
  if (batch.length === 0) return;
  const { now, tallies: sums } = await deps.counts.add(batch);
  tallies.late.splice(0, lateCount);
  markSent(tallies, batch);
  for (const { key, ...sum } of sums) adopt(tallies, key, sum);
  counting.aheadMs = now.getTime() - deps.monotonicMs();
  if (counting.cleanedMinute === minute) return;
  counting.cleanedMinute = minute;
  await deps.counts.forgetBefore(minute - 1);
}
