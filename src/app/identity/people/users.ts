import { TIER_OF } from '../../../domain/containers/catalogue.ts';
import { type AccountChange, accountEvent } from '../../../domain/events.ts';
import { type Caller, credentialId, type RequestOrigin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import { accountEndFaults } from '../../../domain/identity/people/account-end.ts';
import { FIRST_PASSWORD_HOURS } from '../../../domain/identity/people/account-link.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import {
  concernsAdmins,
  decideUserChange,
  type User,
  type UserChange,
  type UserRole,
} from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Person, PersonFilter } from '../../../ports/identity/people/person-repository.ts';
import type { Page, PageRequest } from '../../../ports/pagination.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { oncePer } from '../../audit/audit-view-log.ts';
import { orRollBack } from '../../transaction.ts';
import { lockCaller } from '../account/lock-caller.ts';
import type { Proofs, RequireRecentSignIn } from '../sign-in/reauthentication.ts';
import { asAdmin, checkAccount, type MadeLink, makeLink } from './account-links.ts';
import { makeAccount } from './new-account.ts';

const NOTE_EVERY_MS = 600_000;

export type UsersDeps = {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly confirmed: RequireRecentSignIn;
};

export type NewUserRequest = {
  readonly email: string;
  readonly username: string;
  readonly role?: UserRole;
  /** The role's, if absent. */
  readonly tier?: string;
  readonly endsAt?: Date | null;
};

/** The account, and the link by which its user sets the first password. */
export type CreatedUser = { readonly person: Person; readonly link: MadeLink };

export type Users = ReturnType<typeof users>;

/** All users, for administrators; the route's scope checks that. */
export function users(deps: UsersDeps) {
  const { repositories } = deps.storage;
  const isNew = oncePer(NOTE_EVERY_MS, deps.monotonicMs);

  return {
    /** An administrator's view is recorded, once in a while per session or token. */
    async list(
      request: PageRequest,
      filter: PersonFilter,
      { user, credential }: Caller,
      origin: RequestOrigin,
    ): Promise<Page<Person>> {
      const page = await repositories.people.page(request, filter);
      if (isNew(credentialId(credential))) {
        await repositories.audit.append({ userId: user.id, action: 'users_listed', ...origin, details: '' });
      }
      return page;
    },

    /** An administrator needs a confirmed sign-in, never an API token. */
    create: (request: NewUserRequest, given: Proofs, caller: Caller, origin: RequestOrigin) =>
      create(deps, request, given, caller, origin),

    /**
     * Takes effect with the next request and on open sockets. Disabling ends sessions for good; API tokens fail while
     * it lasts. Making or changing an administrator needs a confirmed sign-in, never an API token.
     */
    change: (id: string, change: UserChange, given: Proofs, caller: Caller, origin: RequestOrigin) =>
      changeUser(deps, { id, change }, given, caller, origin),
  };
}

async function create(
  deps: UsersDeps,
  { email, username, role = 'user', tier = TIER_OF[role], endsAt = null }: NewUserRequest,
  given: Proofs,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<CreatedUser> {
  const account = { email: comparable(email), username, role, tier, endsAt };
  const act = { caller, given, origin, needsSignIn: concernsAdmins(role) };
  return await asAdmin(deps, act, async (tx) => {
    const fit = await checkAccount(tx, account, accountEndFaults(endsAt, role, deps.clock.now()));
    if (!fit.ok) return fit;
    const made = await makeAccount(tx, { ...account, passwordHash: null });
    if (!made.ok) return made;
    const { id: userId } = made.value;
    const link = await makeLink(tx, { kind: 'password', userId }, caller, FIRST_PASSWORD_HOURS);
    if (!link.ok) return link;
    const details = JSON.stringify({ id: userId, role, tier, ...(endsAt === null ? {} : { endsAt }) });
    await tx.audit.append({ userId: caller.user.id, action: 'user_created', ...origin, details });
    return ok({ person: await personOf(tx, userId), link: link.value });
  });
}

type Wanted = { readonly id: string; readonly change: UserChange };

async function changeUser(
  { storage, clock, confirmed }: UsersDeps,
  { id, change }: Wanted,
  given: Proofs,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Person> {
  if (!isUuid(id)) return refuse({ code: 'user_not_found' });
  const before = await storage.repositories.users.findById(id);
  if (before === null) return refuse({ code: 'user_not_found' });
  if (concernsAdmins(before.role, change.role)) {
    const sure = await confirmed(caller, given, origin);
    if (!sure.ok) return sure;
  }
  return await orRollBack(storage.inTransaction, async (tx) => {
    const admins = await tx.users.lockAdmins();
    if (!admins.includes(caller.user.id)) return refuse({ code: 'not_authorized' });
    if (letsIn(before, change)) {
      const present = await lockCaller(tx, caller);
      if (!present.ok) return present;
    }
    await tx.users.lock(id);
    const user = await tx.users.findById(id);
    if (user === null) return refuse({ code: 'user_not_found' });
    if ((await tx.userRemovals.find(id)) !== null) return refuse({ code: 'user_being_deleted' });
    // The user became an administrator after the check.
    if (user.role !== before.role) return refuse({ code: 'confirmation_required', by: 'password' });
    const tiers = (await tx.catalogue.tiers()).map(({ name }) => name);
    const otherAdmins = admins.filter((admin) => admin !== user.id).length;
    const decided = decideUserChange(user, change, { tiers, otherAdmins, now: clock.now() });
    if (!decided.ok) return decided;
    if (Object.keys(decided.value).length > 0) await apply(tx, user, decided.value, caller, origin);
    return ok(await personOf(tx, user.id));
  });
}

/** Whether the change may grant rights, or enable an account. */
const letsIn = ({ role }: User, change: UserChange): boolean =>
  concernsAdmins(role, change.role) || change.disabled === false;

/** Writes what the change alters, with its record and events. */
async function apply(
  tx: Repositories,
  user: User,
  change: UserChange,
  caller: Caller,
  origin: RequestOrigin,
): Promise<void> {
  const changed = await tx.users.change(user.id, change);
  if (changed === null) return;
  if (change.disabled) await endAccess(tx, user.id);
  // Their links would outlive their rights.
  if (change.disabled || change.role === 'user') await tx.accountLinks.withdrawBy(user.id);
  const end = change.endsAt === null ? { endsAt: 'never' } : {};
  const details = JSON.stringify({ id: user.id, ...change, ...end });
  await tx.audit.append({ userId: caller.user.id, action: 'user_updated', ...origin, details });
  if (changed.disabledAt !== null) return;
  for (const what of changesOf(change)) await tx.events.append(accountEvent(changed, what));
}

const changesOf = ({ role, tier, disabled, endsAt }: UserChange): readonly AccountChange[] => [
  ...(role === undefined ? [] : (['role'] as const)),
  ...(tier === undefined ? [] : (['tier'] as const)),
  ...(disabled === false ? (['enabled'] as const) : []),
  ...(endsAt === undefined ? [] : (['end'] as const)),
];

/** Ends what a disabled account could still be used by. API tokens and SSH keys stay, and fail. */
export async function endAccess(tx: Repositories, userId: string): Promise<void> {
  await tx.sessions.revokeOthers(userId, null, REVOKED_FOR.userDisabled);
  await tx.agentEnrolments.endAll(userId);
  await tx.accountLinks.withdrawFor(userId);
}

async function personOf(tx: Repositories, id: string): Promise<Person> {
  const person = await tx.people.find(id);
  if (person === null) throw new Error(`user ${id} is gone`);
  return person;
}
