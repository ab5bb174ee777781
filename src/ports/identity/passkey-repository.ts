import type { Passkey } from '../../domain/identity/passkey.ts';

export type NewPasskey = Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'>;

export interface PasskeyRepository {
  /** null when the credential is already registered. */
  insert(passkey: NewPasskey): Promise<Passkey | null>;
  /** Oldest first. */
  listOf(userId: string): Promise<readonly Passkey[]>;
  findByCredential(credentialId: string): Promise<Passkey | null>;
  /** Records a use and its counter. False when the counter did not grow (`counterHolds`) or the passkey is gone. */
  used(id: string, counter: number, backedUp: boolean): Promise<boolean>;
  rename(id: string, userId: string, name: string): Promise<Passkey | null>;
  remove(id: string, userId: string): Promise<boolean>;
}
