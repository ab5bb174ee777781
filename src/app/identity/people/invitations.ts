import { TIER_OF } from '../../../domain/containers/catalogue.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import { accountEndFaults } from '../../../domain/identity/people/account-end.ts';
import {
  acceptFaults,
  INVITATION_HOURS,
  type Invitation,
} from '../../../domain/identity/people/account-link.ts';
import {
  concernsAdmins,
  type NewPerson,
  personFaults,
  type UserRole,
} from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { LinkPageRequest, NamedLink } from '../../../ports/identity/people/account-link-repository.ts';
import type { Page } from '../../../ports/pagination.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { sha256 } from '../auth/secrets.ts';
import { type Hashing, unasked } from '../limits/hashing-queue.ts';
import type { Proofs, RequireRecentSignIn } from '../sign-in/reauthentication.ts';
import { openSession, type SignedIn } from '../sign-in/sign-in.ts';
import { asAdmin, checkAccount, findLink, LINK_NOT_VALID, type MadeLink, makeLink } from './account-links.ts';
import { makeAccount } from './new-account.ts';

const HOUR_MS = 3_600_000;

export type InvitationDeps = {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly hashing: Hashing;
  readonly throttle: LoginThrottle;
  readonly confirmed: RequireRecentSignIn;
};

/** What an administrator asks for; absent fields get defaults. */
export type InvitationRequest = {
  readonly role?: UserRole;
  readonly tier?: string;
  readonly email?: string | null;
  readonly username?: string | null;
  /** 1 to 720. */
  readonly lifeHours?: number;
  readonly accountEndsAt?: Date | null;
};

export type Invitations = ReturnType<typeof invitations>;

/** Links by which people make their own accounts, whether registration is open or not. */
export function invitations(deps: InvitationDeps) {
  const { accountLinks } = deps.storage.repositories;
  return {
    /** One that makes an administrator needs a confirmed sign-in, never an API token. */
    create: (request: InvitationRequest, given: Proofs, caller: Caller, origin: RequestOrigin) =>
      create(deps, request, given, caller, origin),

    /** Newest first. Throws `UnknownPage`. */
    list: (request: LinkPageRequest): Promise<Page<NamedLink>> => accountLinks.page(['invitation'], request),

    withdraw: (id: string, caller: Caller, origin: RequestOrigin) => withdraw(deps, id, caller, origin),

    /** What the code's invitation offers. Does not use it up. */
    check: (code: string, origin: RequestOrigin) => findLink(deps, code, ['invitation'], origin),

    /** Makes the account and signs in, once: of several at the same time one succeeds. */
    accept: (code: string, person: NewPerson, origin: RequestOrigin) => accept(deps, code, person, origin),
  };
}

async function create(
  deps: InvitationDeps,
  { role = 'user', tier = TIER_OF[role], email = null, username = null, ...asked }: InvitationRequest,
  given: Proofs,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<MadeLink> {
  const { lifeHours = INVITATION_HOURS, accountEndsAt = null } = asked;
  const invitation = {
    role,
    tier,
    email: email === null ? null : comparable(email),
    username,
    accountEndsAt,
  };
  const act = { caller, given, origin, needsSignIn: concernsAdmins(role) };
  return await asAdmin(deps, act, async (tx) => {
    const linkEndsAt = new Date(deps.clock.now().getTime() + lifeHours * HOUR_MS);
    const { endsAt } = accountEndFaults(accountEndsAt, role, linkEndsAt);
    const fit = await checkAccount(tx, invitation, endsAt === undefined ? {} : { accountEndsAt: endsAt });
    if (!fit.ok) return fit;
    const purpose = { kind: 'invitation', ...invitation, madeUserId: null } as const;
    const made = await makeLink(tx, purpose, caller, lifeHours);
    if (!made.ok) return made;
    const details = JSON.stringify({ id: made.value.link.id, ...invitation });
    await tx.audit.append({ userId: caller.user.id, action: 'invitation_created', ...origin, details });
    return made;
  });
}

async function withdraw(
  { storage }: InvitationDeps,
  id: string,
  { user }: Caller,
  origin: RequestOrigin,
): AsyncResult<null> {
  if (!isUuid(id)) return refuse({ code: 'invitation_not_found' });
  return await storage.inTransaction(async (tx) => {
    if (!(await tx.accountLinks.withdraw(id, ['invitation'])))
      return refuse({ code: 'invitation_not_found' });
    await tx.audit.append({ userId: user.id, action: 'invitation_withdrawn', ...origin, details: id });
    return ok(null);
  });
}

async function accept(
  deps: InvitationDeps,
  code: string,
  entered: NewPerson,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const person = { ...entered, email: comparable(entered.email) };
  const found = await findLink(deps, code, ['invitation'], origin);
  if (!found.ok) return found;
  const { purpose } = found.value.link;
  if (purpose.kind !== 'invitation') return refuse(LINK_NOT_VALID);
  const fields = { ...personFaults(person), ...acceptFaults(purpose, person) };
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  const payer = { ipAddress: origin.ipAddress };
  const hashed = await deps.hashing.inTurn(payer, unasked, (one) => one.hash(person.password));
  return hashed.ok
    ? await join(deps, code, purpose, { ...person, passwordHash: hashed.value }, origin)
    : hashed;
}

/** Code, account and session are one transaction: a failure leaves the invitation open. */
const join = (
  { storage }: InvitationDeps,
  code: string,
  { role, tier, accountEndsAt: endsAt }: Invitation,
  { email, username, passwordHash }: NewPerson & { readonly passwordHash: string },
  origin: RequestOrigin,
): AsyncResult<SignedIn> =>
  orRollBack(storage.inTransaction, async (tx) => {
    const open = await tx.accountLinks.lockOpen(sha256(code));
    if (open === null || (await tx.catalogue.tier(tier)) === null) return refuse(LINK_NOT_VALID);
    const made = await makeAccount(tx, { email, username, passwordHash, role, tier, endsAt });
    if (!made.ok) return made;
    const { id: userId } = made.value;
    if (!(await tx.accountLinks.use(open.link.id, userId))) return refuse(LINK_NOT_VALID);
    const details = open.link.id;
    await tx.audit.append({ userId, action: 'invitation_accepted', ...origin, details });
    return ok(await openSession(tx, made.value, origin));
  });
