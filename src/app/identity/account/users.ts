import type { DomainError } from '../../../domain/errors.ts';
import { type Caller, credentialId, type Origin } from '../../../domain/identity/caller.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import { decideUserChange, type User, type UserChange } from '../../../domain/identity/user.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { UserFilter } from '../../../ports/identity/user-repository.ts';
import type { Page, PageRequest } from '../../../ports/pagination.ts';
import type { Storage } from '../../../ports/storage.ts';
import { oncePer } from '../../audit/audit-view-log.ts';
import { orRollBack } from '../../transaction.ts';

const NOTE_EVERY_MS = 600_000;

export type Users = ReturnType<typeof users>;

/** All users, for administrators; the route's scope checks that. */
export function users({ repositories, inTransaction }: Storage, clock: Clock) {
  const isNew = oncePer(NOTE_EVERY_MS, () => clock.now().getTime());

  return {
    /** An administrator's view is recorded, once in a while per session or token. */
    async list(
      request: PageRequest,
      filter: UserFilter,
      { user, credential }: Caller,
      origin: Origin,
    ): Promise<Page<User>> {
      const page = await repositories.users.page(request, filter);
      if (isNew(credentialId(credential))) {
        await repositories.audit.append({ userId: user.id, action: 'users_listed', ...origin, details: '' });
      }
      return page;
    },

    /**
     * Takes effect with the next request and on open sockets. Disabling ends sessions for good; API tokens fail while
     * it lasts.
     */
    async change(
      id: string,
      change: UserChange,
      caller: Caller,
      origin: Origin,
    ): Promise<Result<User, DomainError>> {
      if (!isUuid(id)) return refuse({ code: 'user_not_found' });
      return await orRollBack(inTransaction, async (tx) => {
        const admins = await tx.users.lockAdmins();
        await tx.users.lock(id);
        const user = await tx.users.findById(id);
        if (user === null) return refuse({ code: 'user_not_found' });
        const tiers = (await tx.catalogue.tiers()).map(({ name }) => name);
        const others = admins.filter((admin) => admin !== user.id).length;
        const decided = decideUserChange(user, change, tiers, others);
        if (!decided.ok) return decided;
        if (Object.keys(decided.value).length === 0) return ok(user);
        const changed = await tx.users.change(user.id, decided.value);
        if (changed === null) return refuse({ code: 'user_not_found' });
        if (decided.value.disabled) await tx.sessions.revokeOthers(user.id, null, REVOKED_FOR.userDisabled);
        const details = JSON.stringify({ id: user.id, ...decided.value });
        await tx.audit.append({ userId: caller.user.id, action: 'user_updated', ...origin, details });
        return ok(changed);
      });
    },
  };
}
