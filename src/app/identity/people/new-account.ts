import type { User, UserRole } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';

export type NewAccount = {
  readonly email: string;
  readonly username: string;
  /** null: nobody signs in with a password until one is set. */
  readonly passwordHash: string | null;
  readonly role: UserRole;
  readonly tier: string;
  readonly endsAt: Date | null;
};

/**
 * Makes an account, in the caller's transaction, which fails when a name is taken. Every account is made here: by
 * set-up, registration, invitation or an administrator. The text must be valid.
 */
export async function makeAccount(tx: Repositories, account: NewAccount): AsyncResult<User> {
  const made = await tx.users.insert({ ...account, guestUntil: null });
  return 'taken' in made
    ? refuse({ code: 'validation_failed', fields: { [made.taken]: 'is already in use' } })
    : ok(made.user);
}
