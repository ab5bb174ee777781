import { TIER_OF } from '../../../domain/containers/catalogue.ts';
import { Refusal } from '../../../domain/errors.ts';
import { accountEvent } from '../../../domain/events.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import type { ConnectedIdentity } from '../../../domain/identity/openid/connected-identity.ts';
import type { ProviderRefusal } from '../../../domain/identity/openid/provider-refusal.ts';
import {
  type Arrival,
  decideArrival,
  type ProviderClaims,
} from '../../../domain/identity/openid/provider-sign-in.ts';
import type { User } from '../../../domain/identity/user.ts';
import { type Result, unreachable } from '../../../domain/result.ts';
import type { UserWithPassword } from '../../../ports/identity/user-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { makeAccount } from '../people/new-account.ts';

/** Whose account a verified person opens. Only reads. */
export async function arrivalOf(
  tx: Repositories,
  claims: ProviderClaims,
): Promise<Result<Arrival, ProviderRefusal>> {
  const identity = await tx.identities.find(claims.issuer, claims.subject);
  const email = claims.email && comparable(claims.email);
  const found = identity !== null || email === null ? null : await ownerOfAddress(tx, email);
  const byAddress = found && { user: found.user, opened: await isOpened(tx, found) };
  return decideArrival({ ...claims, email }, { identity, byAddress }, await tx.settings.read());
}

/** The account with this address. A username may look like an address; it is none. */
export async function ownerOfAddress(tx: Repositories, email: string): Promise<UserWithPassword | null> {
  const found = await tx.users.findForLogin(email);
  return found?.user.email?.toLowerCase() === email.toLowerCase() ? found : null;
}

const isOpened = async (tx: Repositories, { user, passwordHash }: UserWithPassword): Promise<boolean> =>
  passwordHash !== null || (await tx.identities.listOf(user.id)).length > 0;

export function ownerOf(arrival: Arrival): string | null {
  switch (arrival.kind) {
    case 'known':
      return arrival.identity.userId;
    case 'match':
      return arrival.user.id;
    case 'create':
      return null;
    default:
      return unreachable(arrival);
  }
}

/** The owner, locked until the transaction ends, so that of first sign-ins at the same time one is connected. */
export async function lockOwner(tx: Repositories, arrival: Arrival): Promise<UserWithPassword | null> {
  const userId = ownerOf(arrival);
  if (userId === null) return null;
  if (arrival.kind === 'match') await tx.users.lock(userId);
  return await tx.users.lockForSignIn(userId);
}

/** `username`: of the account to make; null where none is made. */
type Arriving = { readonly claims: ProviderClaims; readonly username: string | null };

/** The account's user; made or connected first, if need be. `locked`: the owner, locked before `arrival` was read. */
export async function enter(
  tx: Repositories,
  arrival: Arrival,
  { claims, username }: Arriving,
  locked: User | null,
  origin: RequestOrigin,
): Promise<User> {
  if (arrival.kind === 'create') {
    const made = await create(tx, arrival.email, username);
    await connect(tx, made, claims, 'first_sign_in', origin);
    return made;
  }
  if (locked === null) throw new Error('the owner of a connected sign-in is gone');
  if (arrival.kind === 'known') await tx.identities.used(arrival.identity.id, claims.email);
  else {
    // The link for a first password could let another person in.
    await tx.accountLinks.withdrawFor(locked.id);
    await connect(tx, locked, claims, 'address', origin);
  }
  return locked;
}

async function create(tx: Repositories, email: string, username: string | null): Promise<User> {
  // Whether an account is to be made has changed since the name was checked: the next try decides.
  if (username === null) throw new Refusal({ code: 'provider_sign_in_expired' });
  const { oidcTier } = await tx.settings.read();
  const tier = (await tx.catalogue.tier(oidcTier)) === null ? TIER_OF.user : oidcTier;
  const made = await makeAccount(tx, {
    email,
    username,
    passwordHash: null,
    role: 'user',
    tier,
    endsAt: null,
  });
  if (!made.ok) throw new Refusal(made.error);
  return made.value;
}

/** How a sign-in was connected, and whether the account is as new. */
const MAKES_ACCOUNT = { first_sign_in: true, invitation: true, address: false, settings: false } as const;

export type ConnectedBy = keyof typeof MAKES_ACCOUNT;

/** Connects a person to an account, in the caller's transaction. Throws a refusal when it is connected already. */
export async function connect(
  tx: Repositories,
  user: User,
  { issuer, subject, email }: ProviderClaims,
  by: ConnectedBy,
  origin: RequestOrigin,
) {
  const identity = await tx.identities.insert({ userId: user.id, issuer, subject, email });
  if (identity === null) throw new Refusal({ code: 'identity_taken' });
  const details = JSON.stringify({ id: identity.id, issuer, by });
  await tx.audit.append({ userId: user.id, action: 'identity_linked', ...origin, details });
  if (by !== 'settings') await tx.identities.used(identity.id, email);
  if (!MAKES_ACCOUNT[by]) await tx.events.append(accountEvent(user, 'sign_in_connected'));
  return identity;
}

/** Disconnects one, in the caller's transaction, with the user locked. */
export async function disconnect(
  tx: Repositories,
  user: User,
  { id, issuer }: ConnectedIdentity,
  origin: RequestOrigin,
): Promise<void> {
  await tx.identities.remove(id, user.id);
  const details = JSON.stringify({ id, issuer });
  await tx.audit.append({ userId: user.id, action: 'identity_unlinked', ...origin, details });
  await tx.events.append(accountEvent(user, 'sign_in_disconnected'));
}
