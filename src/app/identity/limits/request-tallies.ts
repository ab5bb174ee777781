import { LRUCache } from 'lru-cache';
import { type RequestTally, rolled } from '../../../domain/identity/request-rate.ts';
import type { RequestCount } from '../../../ports/identity/request-count-store.ts';

/** Keys that are counted at a time; the one used longest ago is forgotten here, though not in the database. */
const MAX_KEYS = 50_000;

/** `tally` has all processes' known requests, including ours; `unsent` is the part only known here. */
export type Counted = { tally: RequestTally; unsent: number };

export type RequestTallies = {
  readonly byKey: LRUCache<string, Counted>;
  /** From minutes that ended before they were sent. */
  readonly late: RequestCount[];
};

export const noTallies = (): RequestTallies => ({
  // unlike `max`, this allocates nothing in advance
  byKey: new LRUCache({ maxSize: MAX_KEYS, sizeCalculation: () => 1 }),
  late: [],
});

export function tallyOf(tallies: RequestTallies, key: string, minute: number): Counted {
  const { byKey } = tallies;
  const known = byKey.get(key);
  if (known !== undefined) {
    roll(tallies, key, known, minute);
    return known;
  }
  const made = { tally: { minute, count: 0, countBefore: 0 }, unsent: 0 };
  byKey.set(key, made);
  return made;
}

/** Moves all tallies to this minute, and forgets empty ones. */
export function rollAll(tallies: RequestTallies, minute: number): void {
  for (const [key, entry] of [...tallies.byKey]) {
    roll(tallies, key, entry, minute);
    if (entry.tally.count === 0 && entry.tally.countBefore === 0) tallies.byKey.delete(key);
  }
}

function roll({ late }: RequestTallies, key: string, entry: Counted, minute: number): void {
  if (minute <= entry.tally.minute) return;
  const { unsent, tally } = entry;
  if (unsent > 0 && late.length < MAX_KEYS) late.push({ key, minute: tally.minute, count: unsent });
  entry.tally = rolled(tally, minute);
  entry.unsent = 0;
}

/** Counts known only here, earlier minutes first. */
export function unsentOf({ byKey, late }: RequestTallies): readonly RequestCount[] {
  const current = [...byKey]
    .filter(([, { unsent }]) => unsent > 0)
    .map(([key, { tally, unsent }]) => ({ key, minute: tally.minute, count: unsent }));
  return [...late, ...current];
}

/** The batch is stored. What was counted meanwhile stays unsent. */
export function markSent({ byKey }: RequestTallies, batch: readonly RequestCount[]): void {
  for (const { key, minute, count } of batch) {
    const entry = byKey.get(key);
    if (entry?.tally.minute === minute) entry.unsent -= count;
  }
}

/** Takes over a sum from the database and adds what was counted meanwhile. */
export function adopt({ byKey }: RequestTallies, key: string, sum: RequestTally): void {
  const entry = byKey.get(key);
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
