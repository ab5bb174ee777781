import type { Tally } from '../../domain/identity/login-throttle.ts';

/** Tallies in the order of the requested keys; `now` is the database's clock. */
export type Tallies = { readonly tallies: readonly (Tally | null)[]; readonly now: Date };

/** Failures by key, shared by all processes and kept across restarts. Keys are digests. */
export interface LoginThrottleRepository {
  read(keys: readonly Buffer[]): Promise<Tallies>;
  /** The same, locked until the transaction ends. */
  lock(keys: readonly Buffer[]): Promise<Tallies>;
  put(tallies: readonly { readonly key: Buffer; readonly tally: Tally }[]): Promise<void>;
  forget(keys: readonly Buffer[]): Promise<void>;
}
