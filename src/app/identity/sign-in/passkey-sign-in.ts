import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  challengeIn,
  type Passkey,
  type RelyingParty,
  userHandleOf,
} from '../../../domain/identity/passkey.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { WAITING_MINUTES } from '../../../domain/identity/second-factor.ts';
import { barredAfterReset } from '../../../domain/identity/session.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { AssertionAnswer, BrowserOptions } from '../../../ports/identity/passkey-ceremonies.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { PasskeyDeps } from '../account/passkeys.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import { finishPendingSignIn } from './pending-sign-in.ts';
import { openSession, type SignedIn } from './sign-in.ts';

/** Each challenge is a row. */
const CHALLENGES_A_MINUTE = 60;

type Proven = { readonly passkey: Passkey; readonly counter: number; readonly backedUp: boolean };
type Purpose = 'passkey_sign_in' | 'passkey_second_factor';

export type PasskeySignIn = ReturnType<typeof passkeySignIn>;

type PasskeySignInDeps = PasskeyDeps & { readonly throttle: LoginThrottle };

/** Signing in with a passkey, alone or after the password. */
export function passkeySignIn(deps: PasskeySignInDeps) {
  return {
    /** Accepts any passkey of this installation, so that nobody learns who has one. */
    begin: (origin: RequestOrigin) => begin(deps, origin),

    /** A passkey that verified its user counts as two factors. */
    signIn: (answer: AssertionAnswer, origin: RequestOrigin) => signIn(deps, answer, origin),

    /** Options for the passkeys of the pending sign-in's user. */
    beginSecondFactor: (mfaToken: string, origin: RequestOrigin) => beginSecondFactor(deps, mfaToken, origin),

    /** Completes a pending sign-in with a passkey of the same user. */
    finish: (mfaToken: string, answer: AssertionAnswer, origin: RequestOrigin) =>
      finish(deps, mfaToken, answer, origin),
  };
}

async function begin(deps: PasskeySignInDeps, origin: RequestOrigin): AsyncResult<BrowserOptions> {
  const at = await mayChallenge(deps, origin);
  if (!at.ok) return at;
  const challenge = newSecret();
  const { pending } = deps.storage.repositories;
  await pending.insert(sha256(challenge), 'passkey_sign_in', null, WAITING_MINUTES);
  return ok(await deps.ceremonies.requestOptions(at.value, challenge, null));
}

async function signIn(
  deps: PasskeySignInDeps,
  answer: AssertionAnswer,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const { storage, throttle } = deps;
  const proven = await prove(deps, answer, 'passkey_sign_in', null);
  const userId = proven?.passkey.userId ?? null;
  const attempt = { login: null, userId, origin, by: 'passkey' } as const;
  return await storage.inTransaction(async (tx): AsyncResult<SignedIn> => {
    const locked = userId === null ? null : await tx.users.lockForSignIn(userId);
    const begun = await throttle.begin(tx, attempt);
    if (!begun.ok) return begun;
    if (proven === null || locked === null) return refuse(await begun.value.failed());
    if (isDisabled(locked.user, locked.now)) return refuse(await begun.value.failed('disabled'));
    if (!(await use(tx, proven))) return refuse(await begun.value.failed());
    await begun.value.passed();
    // An older passkey may belong to an intruder.
    const resetAt = await tx.accountLinks.lastReset(locked.user.id);
    const barredUntil = barredAfterReset(resetAt, proven.passkey.createdAt);
    return ok(await openSession(tx, locked.user, origin, null, { barredUntil }));
  });
}

async function beginSecondFactor(
  deps: PasskeySignInDeps,
  mfaToken: string,
  origin: RequestOrigin,
): AsyncResult<BrowserOptions> {
  const at = await mayChallenge(deps, origin);
  if (!at.ok) return at;
  const { pending, passkeys } = deps.storage.repositories;
  const waiting = await pending.find(sha256(mfaToken), 'second_factor');
  if (waiting === null || waiting.userId === null) return refuse({ code: 'login_failed' });
  const challenge = newSecret();
  await pending.insert(sha256(challenge), 'passkey_second_factor', waiting.userId, WAITING_MINUTES);
  const known = await passkeys.listOf(waiting.userId);
  return ok(await deps.ceremonies.requestOptions(at.value, challenge, known));
}

async function finish(
  deps: PasskeySignInDeps,
  mfaToken: string,
  answer: AssertionAnswer,
  origin: RequestOrigin,
): AsyncResult<SignedIn> {
  const { storage, throttle } = deps;
  const waiting = await storage.repositories.pending.find(sha256(mfaToken), 'second_factor');
  const owner = waiting?.userId ?? null;
  const proven = owner === null ? null : await prove(deps, answer, 'passkey_second_factor', owner);
  return await finishPendingSignIn(storage, throttle)(
    mfaToken,
    origin,
    async (tx, user) => ok(proven?.passkey.userId === user.id && (await use(tx, proven))),
    (tx, user, provider) => openSession(tx, user, origin, provider),
  );
}

/** The relying party; refused without passkey support, or after too many requests of the address. */
async function mayChallenge(
  { party, throttle }: PasskeySignInDeps,
  origin: RequestOrigin,
): AsyncResult<RelyingParty> {
  const at = party();
  if (at === null) return refuse({ code: 'passkeys_unavailable' });
  const taken = await throttle.consume('challenge', origin, CHALLENGES_A_MINUTE);
  return taken.ok ? ok(at) : taken;
}

/** The passkey that answered our challenge, which is then used up. */
async function prove(
  { storage: { repositories }, ceremonies, party }: PasskeySignInDeps,
  answer: AssertionAnswer,
  purpose: Purpose,
  userId: string | null,
): Promise<Proven | null> {
  const at = party();
  const challenge = challengeIn(answer.response.clientDataJSON);
  if (at === null || challenge === null) return null;
  const asked = await repositories.pending.spend(sha256(challenge), purpose);
  const passkey = await repositories.passkeys.findByCredential(answer.id);
  if (asked === null || asked.userId !== userId || passkey === null) return null;
  const { userHandle } = answer.response;
  if (userHandle != null && userHandle !== userHandleOf(passkey.userId)) return null;
  const alone = purpose === 'passkey_sign_in';
  const proof = await ceremonies.assert(at, challenge, answer, passkey, alone);
  return proof === null ? null : { passkey, ...proof };
}

/** The counter decides between concurrent uses. */
const use = (tx: Repositories, { passkey, counter, backedUp }: Proven): Promise<boolean> =>
  tx.passkeys.used(passkey.id, counter, backedUp);
