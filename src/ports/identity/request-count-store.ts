import type { RequestTally } from '../../domain/identity/request-rate.ts';

export type RequestCount = { readonly key: string; readonly minute: number; readonly count: number };

/** Request counts, summed over all processes on the database. A crash may lose them. */
export interface RequestCountStore {
  /** Adds the counts in one round trip and returns the sums of those minutes; `now` is the database's clock. */
  add(
    counts: readonly RequestCount[],
  ): Promise<{ readonly now: Date; readonly tallies: readonly (RequestTally & { readonly key: string })[] }>;
  /** Removes all earlier minutes. */
  forgetBefore(minute: number): Promise<void>;
}
