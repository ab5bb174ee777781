import type { Tally } from '../../domain/identity/login-throttle.ts';

/** Tallies in the order of the keys that were asked for; `now` is the database's clock. */
export type Tallies = { readonly tallies: readonly (Tally | null)[]; readonly now: Date };

/** Failures by key, shared by every process and kept across restarts. Keys are digests of what is counted. */
export interface LoginThrottleRepository {
  read(keys: readonly Buffer[]): Promise<Tallies>;
  /** The same, and nobody else changes or reads-to-change them until the transaction ends. */
  lock(keys: readonly Buffer[]): Promise<Tallies>;
  put(tallies: readonly { readonly key: Buffer; readonly tally: Tally }[]): Promise<void>;
  forget(keys: readonly Buffer[]): Promise<void>;
}
