import { accountEvent } from '../../../domain/events.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { RESET_HOURS, type ResetKind } from '../../../domain/identity/people/account-link.ts';
import { REVOKED_FOR } from '../../../domain/identity/session.ts';
import { namesOf, passwordFaults, type User } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { LinkPageRequest, NamedLink } from '../../../ports/identity/people/account-link-repository.ts';
import type { Page } from '../../../ports/pagination.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { sha256 } from '../auth/secrets.ts';
import { type Hashing, unasked } from '../limits/hashing-queue.ts';
import { disconnect } from '../openid/arrival.ts';
import { beginPendingSignIn, type PendingSignIn } from '../sign-in/pending-sign-in.ts';
import type { Proofs, ProvePassword, RequireRecentSignIn } from '../sign-in/reauthentication.ts';
import { openSession, type SignedIn } from '../sign-in/sign-in.ts';
import { asAdmin, findLink, LINK_NOT_VALID, type MadeLink, makeLink } from './account-links.ts';
import { type RemainingCredential, remainingCredentials } from './remaining-credentials.ts';

export type ResetDeps = {
  readonly storage: Storage;
  readonly hashing: Hashing;
  readonly throttle: LoginThrottle;
  readonly confirmed: RequireRecentSignIn;
  readonly provePassword: ProvePassword;
};

export const RESET_KINDS: readonly ResetKind[] = ['password', 'second_factor'];

export type Resets = ReturnType<typeof resets>;

/** Links by which people open an account again: the administrator who makes one never learns a password. */
export function resets(deps: ResetDeps) {
  const { accountLinks } = deps.storage.repositories;
  return {
    /** Needs a confirmed sign-in, never an API token: who has the link can become that user. */
    create: (userId: string, kind: ResetKind, given: Proofs, caller: Caller, origin: RequestOrigin) =>
      create(deps, { userId, kind }, given, caller, origin),

    /** Newest first. Throws `UnknownPage`. */
    list: (request: LinkPageRequest): Promise<Page<NamedLink>> => accountLinks.page(RESET_KINDS, request),

    withdraw: (id: string, caller: Caller, origin: RequestOrigin) => withdraw(deps, id, caller, origin),

    /** What the code's link resets. Does not use it up. */
    check: (code: string, origin: RequestOrigin) => findLink(deps, code, RESET_KINDS, origin),

    /**
     * Ends all sessions, waiting sign-ins, API tokens, enrolment codes and other open links of the account. `password`
     * is the new one, which also disconnects sign-ins at a provider. For a second factor it is the present one, which
     * proves that the link reached its user; the factor and all passkeys are removed.
     */
    use: (code: string, password: string, origin: RequestOrigin) => use(deps, code, password, origin),
  };
}

type Wanted = { readonly userId: string; readonly kind: ResetKind };

async function create(
  deps: ResetDeps,
  { userId, kind }: Wanted,
  given: Proofs,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<MadeLink> {
  if (!isUuid(userId)) return refuse({ code: 'user_not_found' });
  return await asAdmin(deps, { caller, given, origin, needsSignIn: true }, async (tx) => {
    const locked = (await tx.users.lock(userId)) ? await tx.users.lockForSignIn(userId) : null;
    const person = await tx.people.find(userId);
    if (locked === null || person === null) return refuse({ code: 'user_not_found' });
    const { user, mfaEnabled } = person;
    if (user.id === caller.user.id) return refuse({ code: 'own_account' });
    if (user.guestUntil !== null) return refuse({ code: 'account_required' });
    if (isDisabled(user, locked.now)) return refuse({ code: 'user_disabled' });
    if (kind === 'second_factor' && !mfaEnabled) return refuse({ code: 'mfa_not_enabled' });
    const made = await makeLink(tx, { kind, userId }, caller, RESET_HOURS);
    if (!made.ok) return made;
    const details = JSON.stringify({ id: made.value.link.id, user: userId, kind });
    await tx.audit.append({ userId: caller.user.id, action: 'reset_link_created', ...origin, details });
    await tx.events.append(accountEvent(user, 'reset_link_created'));
    return made;
  });
}

async function withdraw(
  { storage }: ResetDeps,
  id: string,
  { user }: Caller,
  origin: RequestOrigin,
): AsyncResult<null> {
  if (!isUuid(id)) return refuse({ code: 'reset_link_not_found' });
  return await storage.inTransaction(async (tx) => {
    if (!(await tx.accountLinks.withdraw(id, RESET_KINDS))) return refuse({ code: 'reset_link_not_found' });
    await tx.audit.append({ userId: user.id, action: 'reset_link_withdrawn', ...origin, details: id });
    return ok(null);
  });
}

/** A session with what is left, or a sign-in that waits for the second factor. */
type Opened = (SignedIn & { readonly remaining: readonly RemainingCredential[] }) | PendingSignIn;

async function use(
  deps: ResetDeps,
  code: string,
  password: string,
  origin: RequestOrigin,
): AsyncResult<Opened> {
  const found = await findLink(deps, code, RESET_KINDS, origin);
  if (!found.ok) return found;
  const { purpose } = found.value.link;
  switch (purpose.kind) {
    case 'invitation':
      return refuse(LINK_NOT_VALID);
    case 'password':
      return await newPassword(deps, { code, userId: purpose.userId }, password, origin);
    case 'second_factor':
      return await withoutSecondFactor(deps, { code, userId: purpose.userId }, password, origin);
  }
}

type Used = { readonly code: string; readonly userId: string };

async function newPassword(
  deps: ResetDeps,
  used: Used,
  password: string,
  origin: RequestOrigin,
): AsyncResult<Opened> {
  const owner = await deps.storage.repositories.users.findById(used.userId);
  const fields = passwordFaults(password, owner === null ? [] : namesOf(owner));
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  const payer = { ipAddress: origin.ipAddress };
  const hashed = await deps.hashing.inTurn(payer, unasked, (one) => one.hash(password));
  if (!hashed.ok) return hashed;
  return await useUp(deps, used, async (tx, user) => {
    await tx.users.setPassword(user.id, hashed.value);
    // Somebody else may have connected one. The password is a way in.
    for (const identity of await tx.identities.listOf(user.id)) await disconnect(tx, user, identity, origin);
    await tx.audit.append({ userId: user.id, action: 'password_reset', ...origin, details: '' });
    await tx.events.append(accountEvent(user, 'password_reset'));
    return ok((await beginPendingSignIn(tx, user)) ?? (await signIn(tx, user, origin)));
  });
}

async function withoutSecondFactor(
  deps: ResetDeps,
  used: Used,
  password: string,
  origin: RequestOrigin,
): AsyncResult<Opened> {
  const proven = await deps.provePassword(used.userId, password, origin);
  if (!proven.ok) return proven;
  return await useUp(deps, used, async (tx, user, passwordHash) => {
    // Another link may have set a password since the check.
    if (passwordHash !== proven.value) return refuse({ code: 'wrong_password' });
    await tx.recoveryCodes.replace(user.id, []);
    await tx.factors.removeTotp(user.id);
    for (const passkey of await tx.passkeys.listOf(user.id)) await tx.passkeys.remove(passkey.id, user.id);
    await tx.audit.append({ userId: user.id, action: 'second_factor_reset', ...origin, details: '' });
    await tx.events.append(accountEvent(user, 'second_factor_reset'));
    return ok(await signIn(tx, user, origin));
  });
}

const signIn = async (tx: Repositories, user: User, origin: RequestOrigin) => ({
  ...(await openSession(tx, user, origin)),
  remaining: await remainingCredentials(tx, user.id),
});

/**
 * Uses the link up, withdraws the account's other links and ends all sessions, tokens and codes, then runs `work`; one
 * transaction, with the user locked first.
 */
const useUp = <T>(
  { storage }: ResetDeps,
  { code, userId }: Used,
  work: (tx: Repositories, user: User, passwordHash: string | null) => AsyncResult<T>,
): AsyncResult<T> =>
  orRollBack(storage.inTransaction, async (tx) => {
    await tx.users.lock(userId);
    const now = await tx.users.lockForSignIn(userId);
    const open = await tx.accountLinks.lockOpen(sha256(code));
    if (now === null || open === null || isDisabled(now.user, now.now)) return refuse(LINK_NOT_VALID);
    if (!(await tx.accountLinks.use(open.link.id, userId))) return refuse(LINK_NOT_VALID);
    await tx.accountLinks.withdrawFor(userId);
    await tx.pending.endAll(userId, 'second_factor');
    await tx.sessions.revokeOthers(userId, null, REVOKED_FOR.accountReset);
    await tx.tokens.revokeAll(userId);
    await tx.agentEnrolments.endAll(userId);
    return await work(tx, now.user, now.passwordHash);
  });
