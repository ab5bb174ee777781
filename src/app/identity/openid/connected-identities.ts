import { Refusal } from '../../../domain/errors.ts';
import { type Caller, isBarred, type RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  type ConnectedIdentity,
  keepsWayIn,
  MAX_IDENTITIES,
} from '../../../domain/identity/openid/connected-identity.ts';
import { signedInAgain } from '../../../domain/identity/openid/provider-sign-in.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { ArrivedProviderSignIn } from '../../../ports/identity/openid/provider-sign-in-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { endOthersOf } from '../account/end-others.ts';
import { lockCaller, withLockedCaller } from '../account/lock-caller.ts';
import type { Proofs, RequireRecentSignIn } from '../sign-in/reauthentication.ts';
import { connect, disconnect } from './arrival.ts';
import { takeArrived } from './arrived.ts';
import { type ProviderDeps, startAtProvider } from './provider-deps.ts';

export type ConnectedDeps = ProviderDeps & { readonly confirmed: RequireRecentSignIn };

export type IdentityStart = {
  /** Connect a person at the provider, or confirm there that it is you. */
  readonly purpose: 'link' | 'confirm';
  readonly returnPath: string | undefined;
  /** The secret of the browser's cookie. */
  readonly browser: string;
};

export type Connected =
  | { readonly purpose: 'link'; readonly identity: ConnectedIdentity }
  | { readonly purpose: 'confirm' };

export type ConnectedIdentities = ReturnType<typeof connectedIdentities>;

/** A user's own sign-ins at the OpenID provider. */
export const connectedIdentities = (deps: ConnectedDeps) => ({
  list: ({ user }: Caller): Promise<readonly ConnectedIdentity[]> =>
    deps.storage.repositories.identities.listOf(user.id),

  /** Where the browser goes. Connecting needs a recent sign-in or a confirmation. */
  begin: (wanted: IdentityStart, given: Proofs, caller: Caller, origin: RequestOrigin) =>
    begin(deps, wanted, given, caller, origin),

  /** Completes what the same session began in the same browser. */
  finish: (id: string, browser: string | null, caller: Caller, origin: RequestOrigin) =>
    finish(deps, { id, browser }, caller, origin),

  /** Ends the user's other sessions. Refused when the account would have no way in. */
  remove: (id: string, given: Proofs, caller: Caller, origin: RequestOrigin) =>
    remove(deps, id, given, caller, origin),
});

async function begin(
  deps: ConnectedDeps,
  { purpose, returnPath, browser }: IdentityStart,
  given: Proofs,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<URL> {
  if (caller.credential.kind !== 'login') return refuse({ code: 'login_token_required' });
  if (purpose === 'link') {
    if (isBarred(caller)) return refuse({ code: 'new_password_required' });
    const sure = await deps.confirmed(caller, given, origin);
    if (!sure.ok) return sure;
  } else if (await needsCode(deps.storage.repositories, caller)) {
    return refuse({ code: 'confirmation_required', by: 'code' });
  }
  const { sessionId } = caller.credential;
  return await startAtProvider(
    deps,
    { purpose, sessionId, invitationHash: null, browser, returnPath },
    origin,
  );
}

/** A provider's sign-in does not replace the second factor. */
const needsCode = async ({ factors }: Repositories, { user }: Caller): Promise<boolean> =>
  (await factors.totp(user.id))?.confirmedAt != null;

type Ticket = { readonly id: string; readonly browser: string | null };

/** What arrived is used up, also by a refusal. */
async function finish(
  { storage }: ConnectedDeps,
  { id, browser }: Ticket,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Connected> {
  const { credential } = caller;
  const sessionId = credential.kind === 'login' ? credential.sessionId : null;
  const arrived = await storage.inTransaction((tx) => takeArrived(tx, id, browser));
  if (arrived === null || arrived.sessionId === null || arrived.sessionId !== sessionId) {
    return refuse({ code: 'provider_sign_in_expired' });
  }
  try {
    return await storage.inTransaction(async (tx): AsyncResult<Connected> => {
      const present = await lockCaller(tx, caller);
      if (!present.ok) return present;
      return arrived.purpose === 'confirm'
        ? await confirm(tx, arrived, caller, origin)
        : await link(tx, arrived, caller, origin);
    });
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.error);
    throw error;
  }
}

async function link(
  tx: Repositories,
  { claims }: ArrivedProviderSignIn,
  { user }: Caller,
  origin: RequestOrigin,
): AsyncResult<Connected> {
  if ((await tx.identities.listOf(user.id)).length >= MAX_IDENTITIES) {
    return refuse({ code: 'identity_limit_reached', max: MAX_IDENTITIES });
  }
  return ok({ purpose: 'link', identity: await connect(tx, user, claims, 'settings', origin) });
}

/** The same person must have signed in at the provider again. */
async function confirm(
  tx: Repositories,
  { claims, startedAt, sessionId }: ArrivedProviderSignIn,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Connected> {
  const userId = caller.user.id;
  const identity = await tx.identities.find(claims.issuer, claims.subject);
  const isOwner = identity?.userId === userId;
  if (isOwner && sessionId !== null && signedInAgain(claims, startedAt) && !(await needsCode(tx, caller))) {
    await tx.sessions.confirm(sessionId);
    return ok({ purpose: 'confirm' });
  }
  await tx.audit.append({
    userId,
    action: 'confirmation_failed',
    ...origin,
    details: 'sign-in at the provider',
  });
  if (!isOwner) return refuse({ code: 'provider_other_person' });
  return refuse({ code: claims.authTime === null ? 'provider_time_missing' : 'provider_rejected' });
}

async function remove(
  { storage, confirmed }: ConnectedDeps,
  id: string,
  given: Proofs,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<null> {
  const { user } = caller;
  const sure = await confirmed(caller, given, origin);
  if (!sure.ok) return sure;
  return await withLockedCaller(storage.inTransaction, caller, async (tx) => {
    const owned = await tx.identities.listOf(user.id);
    const found = owned.find((one) => isUuid(id) && one.id === id.toLowerCase());
    if (found === undefined) return refuse({ code: 'identity_not_found' });
    const { passwordSet } = await tx.screenLocks.protectionOf(user.id);
    if (!keepsWayIn(passwordSet, owned.length)) return refuse({ code: 'identity_needed' });
    await disconnect(tx, user, found, origin);
    await endOthersOf(tx, caller, origin);
    return ok(null);
  });
}
