import type { SshKey } from '../../domain/identity/ssh-key.ts';

export type NewSshKey = Pick<SshKey, 'userId' | 'name' | 'type' | 'publicKey' | 'fingerprint'>;

export interface SshKeyRepository {
  /** null when the user has that key already. */
  insert(key: NewSshKey): Promise<SshKey | null>;
  /** Newest first. */
  listOwned(userId: string): Promise<readonly SshKey[]>;
  /** True for as long as the user's row is locked. */
  count(userId: string): Promise<number>;
  /** The key that is gone; null when it was not the user's. */
  remove(id: string, userId: string): Promise<SshKey | null>;
}
