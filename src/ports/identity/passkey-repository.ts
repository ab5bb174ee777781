import type { Passkey } from '../../domain/identity/passkey.ts';

export type NewPasskey = Omit<Passkey, 'id' | 'createdAt' | 'lastUsedAt'>;

export interface PasskeyRepository {
  /** null when somebody has registered that credential already. */
  insert(passkey: NewPasskey): Promise<Passkey | null>;
  /** Oldest first. */
  listOf(userId: string): Promise<readonly Passkey[]>;
  findByCredential(credentialId: string): Promise<Passkey | null>;
  /** Records a use and its count. False when the count did not grow, as `counterHolds` says, or it is gone. */
  used(id: string, counter: number, backedUp: boolean): Promise<boolean>;
  /** null when it is not the user's. */
  rename(id: string, userId: string, name: string): Promise<Passkey | null>;
  /** False when it is not the user's. */
  remove(id: string, userId: string): Promise<boolean>;
}
