/** A request that may be repeated: the same user, method and address, and key. */
export type KeyedRequest = { readonly userId: string; readonly route: string; readonly key: string };

/** What was answered, without anything secret. */
export type KeptAnswer<B = object> = { readonly status: number; readonly body: B };

export type Begun =
  /** To be worked on. `subject`: what an earlier try made that died before its answer. */
  | { readonly kind: 'begun'; readonly subject: string | null }
  | { readonly kind: 'done'; readonly subject: string | null; readonly answer: KeptAnswer }
  /** Another try is being worked on. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'other_body' };

export const KEPT_HOURS = 24;

/** `holder` is one try; writes of one that has lost its lease change nothing. */
export interface IdempotencyKeyStore {
  /** Of several tries at once exactly one begins. Keys are forgotten `KEPT_HOURS` after their first try. */
  begin(request: KeyedRequest, bodyHash: Buffer, holder: string, leaseSeconds: number): Promise<Begun>;
  renew(holder: string, leaseSeconds: number): Promise<void>;
  /** False when the lease is another's. */
  link(holder: string, subject: string): Promise<boolean>;
  finish(holder: string, answer: KeptAnswer): Promise<boolean>;
  /** The next try begins at once: from the start, or from what this one has made. */
  forget(holder: string): Promise<void>;
}
