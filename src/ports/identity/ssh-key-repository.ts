import type { SshKey } from '../../domain/identity/ssh-key.ts';
import type { UseLimits } from '../../domain/identity/use-limits.ts';
import type { User } from '../../domain/identity/user.ts';
import type { Use } from './session-repository.ts';

export type NewSshKey = Pick<SshKey, 'userId' | 'name' | 'type' | 'publicKey' | 'fingerprint'>;

/** A key and all that decides its validity, read in one round trip; `now` is the database's clock. */
export type SshKeyWithUser = {
  readonly key: SshKey;
  readonly user: User;
  readonly now: Date;
  readonly requestsPerMinute: number;
  readonly limits: UseLimits;
};

export interface SshKeyRepository {
  /** null when the user, or another one, already has that key. */
  insert(key: NewSshKey): Promise<SshKey | null>;
  /** Newest first. */
  listOwned(userId: string): Promise<readonly SshKey[]>;
  /** Exact while the user's row is locked. */
  count(userId: string): Promise<number>;
  findByFingerprint(fingerprint: string): Promise<SshKeyWithUser | null>;
  findAllByIdWithUser(ids: readonly string[]): Promise<readonly SshKeyWithUser[]>;
  /** Returns the removed key; null when it is not the user's. */
  remove(id: string, userId: string): Promise<SshKey | null>;
  /** Sets last_used_at, never to an earlier time. */
  touch(uses: readonly Use[]): Promise<void>;
}
