import type { DomainError } from '../../../domain/errors.ts';
import {
  addressGroup,
  minuteOf,
  type RequestTally,
  rolled,
  waitMs,
} from '../../../domain/identity/request-rate.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { RequestCount, RequestCounts } from '../../../ports/identity/request-count-store.ts';

/** Keys that are counted at a time; the one that came first is forgotten here, though not in the database. */
const MAX_KEYS = 50_000;
/** This part of a limit may be used before the others hear of it, at the latest with the next flush. */
const TELL_AFTER = 0.1;

/** `tally` has the requests of all processes as far as known, our own always; `unsent` is the part that only we know. */
type Counted = { tally: RequestTally; unsent: number };

/** So many requests under a key in a minute; 0 for no limit. */
type RequestLimit = { readonly key: string; readonly perMinute: number };

export type RequestLimitDeps = {
  readonly counts: RequestCounts;
  readonly monotonicMs: () => number;
  /** Wall-clock time until the database has told its own. */
  readonly startMs: number;
};

export type RequestLimits = ReturnType<typeof requestLimits>;

/** Counts requests here, and adds them up with the other processes in batches: no request waits for the database. */
export function requestLimits({ counts, monotonicMs, startMs }: RequestLimitDeps) {
  const keys = new Map<string, Counted>();
  // Of minutes that ended before they were sent.
  const late: RequestCount[] = [];
  let aheadMs = startMs - monotonicMs();
  let cleanedMinute = 0;
  let last: Promise<void> = Promise.resolve();
  let isPublishing = false;
  const nowMs = (): number => monotonicMs() + aheadMs;

  function roll(key: string, entry: Counted, minute: number): void {
    if (minute <= entry.tally.minute) return;
    const { unsent, tally } = entry;
    if (unsent > 0 && late.length < MAX_KEYS) late.push({ key, minute: tally.minute, count: unsent });
    entry.tally = rolled(tally, minute);
    entry.unsent = 0;
  }

  function entryOf(key: string, minute: number): Counted {
    const known = keys.get(key);
    if (known !== undefined) {
      roll(key, known, minute);
      return known;
    }
    const [oldest] = keys.size < MAX_KEYS ? [] : keys.keys();
    if (oldest !== undefined) keys.delete(oldest);
    const made = { tally: { minute, count: 0, countBefore: 0 }, unsent: 0 };
    keys.set(key, made);
    return made;
  }

  async function send(): Promise<void> {
    const minute = minuteOf(nowMs());
    for (const [key, entry] of keys) {
      roll(key, entry, minute);
      if (entry.tally.count === 0 && entry.tally.countBefore === 0) keys.delete(key);
    }
    const lateOnes = late.length;
    const batch = [...late, ...unsentOf(keys)];
    if (batch.length === 0) return;
    const { now, tallies } = await counts.add(batch);
    late.splice(0, lateOnes);
    for (const { key, minute, count } of batch) {
      const entry = keys.get(key);
      if (entry?.tally.minute === minute) entry.unsent -= count;
    }
    for (const { key, ...sum } of tallies) adopt(keys.get(key), sum);
    aheadMs = now.getTime() - monotonicMs();
    if (cleanedMinute === minute) return;
    cleanedMinute = minute;
    await counts.forgetBefore(minute - 1);
  }

  // One after the other, so that no request is sent twice; what is counted by now has been sent when it resolves.
  const flush = (): Promise<void> => {
    last = last.then(send, send);
    return last;
  };

  function publishSoon(): void {
    if (isPublishing) return;
    isPublishing = true;
    const done = (): void => {
      isPublishing = false;
    };
    // A fault is met again by the flush that somebody waits for.
    flush().then(done, done);
  }

  /**
   * Counts a request under each key, as `cost` requests, or refuses it until it fits under all of them, and counts it
   * under none. One that costs more is let in where one more fits. No limit where `perMinute` is 0.
   */
  function admitFor(asked: readonly RequestLimit[], cost = 1): Result<null, DomainError> {
    const now = nowMs();
    const minute = minuteOf(now);
    let wait = 0;
    for (const { key, perMinute } of asked) {
      if (perMinute > 0) wait = Math.max(wait, waitMs(entryOf(key, minute).tally, perMinute, now));
    }
    if (wait > 0) return refuse({ code: 'rate_limited', retryAfterSeconds: Math.ceil(wait / 1000) });
    for (const { key, perMinute } of asked) {
      if (perMinute === 0) continue;
      const entry = entryOf(key, minute);
      entry.tally = { ...entry.tally, count: entry.tally.count + cost };
      entry.unsent += cost;
      if (entry.unsent >= perMinute * TELL_AFTER) publishSoon();
    }
    return FINE;
  }

  return {
    /** The same as `admitFor`, for one key. */
    admit: (key: string, perMinute: number, cost = 1): Result<null, DomainError> =>
      admitFor([{ key, perMinute }], cost),

    admitFor,

    /** The key that requests without a credential are counted under. */
    keyOfAddress: (ipAddress: string): string => `address ${addressGroup(ipAddress)}`,

    /** Tells the others, and hears of them. */
    flush,
  };
}

const FINE = ok(null);

function unsentOf(keys: ReadonlyMap<string, Counted>): RequestCount[] {
  return [...keys]
    .filter(([, { unsent }]) => unsent > 0)
    .map(([key, { tally, unsent }]) => ({ key, minute: tally.minute, count: unsent }));
}

/** Sums from the database, to which what was counted here meanwhile is added. */
function adopt(entry: Counted | undefined, sum: RequestTally): void {
  if (entry === undefined) return;
  const { tally, unsent } = entry;
  if (sum.minute === tally.minute) {
    entry.tally = {
      ...sum,
      count: sum.count + unsent,
      countBefore: Math.max(sum.countBefore, tally.countBefore),
    };
  } else if (sum.minute === tally.minute - 1) {
    entry.tally = { ...tally, countBefore: Math.max(sum.count, tally.countBefore) };
  }
}
