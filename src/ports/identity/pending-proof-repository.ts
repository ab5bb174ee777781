/** The purpose of a short-lived one-time secret. */
export type PendingPurpose =
  | 'second_factor'
  | 'passkey_registration'
  | 'passkey_sign_in'
  | 'passkey_second_factor';

/** Short-lived one-time secrets, by their SHA-256. An expired one does not exist. */
export interface PendingProofRepository {
  /** Returns the expiry time. */
  insert(hash: Buffer, purpose: PendingPurpose, userId: string | null, lifeMinutes: number): Promise<Date>;
  find(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly userId: string | null } | null>;
  /** Locks it until the transaction ends; `tries` counts the wrong ones. */
  lock(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly tries: number } | null>;
  countTry(hash: Buffer): Promise<void>;
  /** Uses it up: exactly one of several concurrent calls gets it, the others null. */
  spend(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly userId: string | null } | null>;
  /** Removes all of a user's secrets with one purpose. */
  endAll(userId: string, purpose: PendingPurpose): Promise<void>;
}
