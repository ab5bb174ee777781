/** A repeatable request: its user, method, address and key. */
export type KeyedRequest = { readonly userId: string; readonly route: string; readonly key: string };

/** The answer, without secrets. */
export type StoredAnswer<B = object> = { readonly status: number; readonly body: B };

export type Begun =
  /** To be processed. `subject`: what an earlier attempt made before it died. */
  | { readonly kind: 'begun'; readonly subject: string | null }
  | { readonly kind: 'done'; readonly subject: string | null; readonly answer: StoredAnswer }
  /** Another attempt is in progress. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'other_body' };

export const KEPT_HOURS = 24;

/** `holder` is one attempt. Writes after its lease has expired change nothing. */
export interface IdempotencyKeyStore {
  /** Of concurrent attempts exactly one begins. Keys are forgotten `KEPT_HOURS` after their first attempt. */
  begin(request: KeyedRequest, bodyHash: Buffer, holder: string, leaseSeconds: number): Promise<Begun>;
  renew(holder: string, leaseSeconds: number): Promise<void>;
  /** False when the lease is another's. */
  link(holder: string, subject: string): Promise<boolean>;
  finish(holder: string, answer: StoredAnswer): Promise<boolean>;
  /** The next attempt begins at once: from the start, or from what this one has made. */
  forget(holder: string): Promise<void>;
}
