/** What something that may be used once, soon, was handed out for. */
export type PendingPurpose =
  | 'second_factor'
  | 'passkey_registration'
  | 'passkey_sign_in'
  | 'passkey_second_factor';

/** Secrets of one use and a short life, by their SHA-256. One that is past its life does not exist. */
export interface PendingProofRepository {
  /** Its end. */
  insert(hash: Buffer, purpose: PendingPurpose, userId: string | null, lifeMinutes: number): Promise<Date>;
  find(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly userId: string | null } | null>;
  /** Locks it until the transaction ends; `tries` are the wrong ones so far. */
  lock(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly tries: number } | null>;
  countTry(hash: Buffer): Promise<void>;
  /** Uses it up. Of several at once exactly one gets it, the others null. */
  spend(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly userId: string | null } | null>;
  /** Ends all of a user's for one purpose. */
  endAll(userId: string, purpose: PendingPurpose): Promise<void>;
}
