import { accountEndReason, hasEnded } from '../../../domain/identity/people/account-end.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import { BY_BERTH } from '../../by-berth.ts';
import { endAccess } from './users.ts';

const AT_ONCE = 100;

/** Disables the accounts that have ended, each once; for a timer. Until then their credentials are refused already. */
export const endAccounts =
  ({ repositories, inTransaction }: Storage, log: Logger) =>
  async (): Promise<void> => {
    let after: string | null = null;
    do {
      const ids: readonly string[] = await repositories.people.ended(after, AT_ONCE);
      for (const id of ids) {
        await end(inTransaction, id).catch((err: unknown) =>
          log.warn({ err, userId: id }, 'could not end an account'),
        );
      }
      after = ids.at(-1) ?? null;
    } while (after !== null);
  };

const end = (inTransaction: Storage['inTransaction'], id: string): Promise<void> =>
  inTransaction(async (tx) => {
    await tx.users.lock(id);
    const locked = await tx.users.lockForSignIn(id);
    // An administrator may have changed it, or another process may have ended it.
    if (locked === null || locked.user.disabledAt !== null || !hasEnded(locked.user, locked.now)) return;
    const { endsAt } = locked.user;
    await tx.users.change(id, {
      disabled: true,
      disabledReason: endsAt === null ? null : accountEndReason(endsAt),
    });
    await endAccess(tx, id);
    const details = JSON.stringify({ id, username: locked.user.username });
    await tx.audit.append({ ...BY_BERTH, action: 'account_ended', details });
  });
