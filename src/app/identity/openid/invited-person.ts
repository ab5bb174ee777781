import { Refusal } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { comparable } from '../../../domain/identity/confusable-names.ts';
import { type AlreadyHere, decideAcceptance } from '../../../domain/identity/openid/invited-person.ts';
import type { ProviderRefusal } from '../../../domain/identity/openid/provider-refusal.ts';
import type { ProviderClaims } from '../../../domain/identity/openid/provider-sign-in.ts';
import type { Invitation } from '../../../domain/identity/people/account-link.ts';
import type { User } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { ArrivedProviderSignIn } from '../../../ports/identity/openid/provider-sign-in-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { sha256 } from '../auth/secrets.ts';
import { findLink } from '../people/account-links.ts';
import { makeAccount } from '../people/new-account.ts';
import { openProvenBefore, type SignedIn } from '../sign-in/sign-in.ts';
import { connect, ownerOfAddress } from './arrival.ts';
import { failedAtProvider, type ProviderDeps, startAtProvider } from './provider-deps.ts';

/** Where the browser of somebody with an invitation's code signs in. Does not use the invitation up. */
export async function startAcceptance(
  deps: ProviderDeps,
  code: string,
  browser: string,
  origin: RequestOrigin,
): AsyncResult<URL> {
  const found = await findLink(deps, code, ['invitation'], origin);
  if (!found.ok) return found;
  const start = { sessionId: null, invitationHash: sha256(code), browser, returnPath: '/' };
  return await startAtProvider(deps, { purpose: 'invitation', ...start }, origin);
}

/**
 * Makes the account that an invitation offers, connects the person and signs in, in the caller's transaction. A refusal
 * is recorded and leaves the invitation open; nothing is written before the last one. Throws a refusal where another
 * request was faster.
 */
export async function acceptInvitation(
  deps: Pick<ProviderDeps, 'throttle'>,
  tx: Repositories,
  arrived: ArrivedProviderSignIn & { readonly username: string | null },
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const { claims, sealedIdToken, invitationHash } = arrived;
  const fail = async (code: ProviderRefusal) => refuse(await failedAtProvider(deps, tx, code, origin));
  const open = invitationHash && (await tx.accountLinks.lockOpen(invitationHash));
  if (open?.link.purpose.kind !== 'invitation') return await fail('link_not_valid');
  const { id, purpose: invitation } = open.link;
  if ((await tx.catalogue.tier(invitation.tier)) === null) return await fail('link_not_valid');
  const decided = await decide(tx, arrived, invitation);
  if (!decided.ok) return await fail(decided.error);
  const user = await join(tx, invitation, decided.value.email, arrived.username);
  if (!(await tx.accountLinks.use(id, user.id))) throw new Refusal({ code: 'link_not_valid' });
  await tx.audit.append({ userId: user.id, action: 'invitation_accepted', ...origin, details: id });
  await connect(tx, user, claims, 'invitation', origin);
  const { issuer, subject, sid, authTime } = claims;
  return ok(await openProvenBefore(tx, user, origin, { issuer, subject, sid, sealedIdToken }, authTime));
}

/** The address of the account that accepting makes; null when it will be refused, or the invitation names the user. */
export async function addressToAccept(
  tx: Repositories,
  arrived: ArrivedProviderSignIn,
): Promise<string | null> {
  const { invitationHash } = arrived;
  const purpose = invitationHash && (await tx.accountLinks.findOpen(invitationHash))?.link.purpose;
  if (purpose?.kind !== 'invitation' || purpose.username !== null) return null;
  const decided = await decide(tx, arrived, purpose);
  return decided.ok ? decided.value.email : null;
}

async function decide(
  tx: Repositories,
  { claims, startedAt }: ArrivedProviderSignIn,
  invitation: Invitation,
): Promise<ReturnType<typeof decideAcceptance>> {
  const email = claims.email && comparable(claims.email);
  const here = await alreadyHere(tx, { ...claims, email }, invitation);
  return decideAcceptance({ ...claims, email }, invitation, here, startedAt);
}

const alreadyHere = async (
  tx: Repositories,
  { issuer, subject, email }: ProviderClaims,
  { username }: Invitation,
): Promise<AlreadyHere> => ({
  isConnected: (await tx.identities.find(issuer, subject)) !== null,
  addressTaken: email !== null && (await ownerOfAddress(tx, email)) !== null,
  nameTaken: username !== null && (await tx.users.findForLogin(username)) !== null,
});

async function join(
  tx: Repositories,
  { role, tier, username: invited, accountEndsAt: endsAt }: Invitation,
  email: string,
  chosen: string | null,
): Promise<User> {
  const username = invited ?? chosen;
  if (username === null) throw new Refusal({ code: 'provider_sign_in_expired' });
  const made = await makeAccount(tx, { email, username, passwordHash: null, role, tier, endsAt });
  // Another account took the name or the address since the check.
  if (!made.ok) throw new Refusal({ code: 'provider_sign_in_expired' });
  return made.value;
}
