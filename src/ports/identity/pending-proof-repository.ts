import type { ProviderSession } from '../../domain/identity/openid/connected-identity.ts';

/** The purpose of a short-lived one-time secret. */
export type PendingPurpose =
  | 'second_factor'
  | 'passkey_registration'
  | 'passkey_sign_in'
  | 'passkey_second_factor';

export type LockedProof = { readonly tries: number; readonly provider: ProviderSession | null };

/** Short-lived one-time secrets, by their SHA-256. An expired one does not exist. */
export interface PendingProofRepository {
  /** Returns the expiry time. `provider`: the provider's session behind a pending sign-in. */
  insert(
    hash: Buffer,
    purpose: PendingPurpose,
    userId: string | null,
    lifeMinutes: number,
    provider?: ProviderSession | null,
  ): Promise<Date>;
  find(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly userId: string | null } | null>;
  /** Locks it until the transaction ends; `tries` counts the wrong ones. */
  lock(hash: Buffer, purpose: PendingPurpose): Promise<LockedProof | null>;
  countTry(hash: Buffer): Promise<void>;
  /** Uses it up: exactly one of several concurrent calls gets it, the others null. */
  spend(hash: Buffer, purpose: PendingPurpose): Promise<{ readonly userId: string | null } | null>;
  /** Removes all of a user's secrets with one purpose. */
  endAll(userId: string, purpose: PendingPurpose): Promise<void>;
}
