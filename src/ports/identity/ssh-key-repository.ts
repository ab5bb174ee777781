import type { SshKey } from '../../domain/identity/ssh-key.ts';

export type NewSshKey = Pick<SshKey, 'userId' | 'name' | 'type' | 'publicKey' | 'fingerprint'>;

export interface SshKeyRepository {
  /** null when the user already has that key. */
  insert(key: NewSshKey): Promise<SshKey | null>;
  /** Newest first. */
  listOwned(userId: string): Promise<readonly SshKey[]>;
  /** Exact while the user's row is locked. */
  count(userId: string): Promise<number>;
  /** Returns the removed key; null when it is not the user's. */
  remove(id: string, userId: string): Promise<SshKey | null>;
}
