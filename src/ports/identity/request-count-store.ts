import type { RequestTally } from '../../domain/identity/request-rate.ts';

/** Requests of one key in one minute. */
export type RequestCount = { readonly key: string; readonly minute: number; readonly count: number };

/** How many requests were made with what, over all processes on the database. Losing it in a crash is harmless. */
export interface RequestCountStore {
  /** Adds, in one round trip, and answers the sums of those minutes; `now` is the database's clock. */
  add(
    counts: readonly RequestCount[],
  ): Promise<{ readonly now: Date; readonly tallies: readonly (RequestTally & { readonly key: string })[] }>;
  /** Forgets every minute before that one. */
  forgetBefore(minute: number): Promise<void>;
}
