import type { DomainError } from '../../../domain/errors.ts';
import type { Origin } from '../../../domain/identity/caller.ts';
import { challengeIn, type Passkey, userHandleOf } from '../../../domain/identity/passkey.ts';
import { WAITING_MINUTES } from '../../../domain/identity/second-factor.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { AssertionAnswer, BrowserOptions } from '../../../ports/identity/passkey-ceremonies.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { PasskeyDeps } from '../account/passkeys.ts';
import type { Guard } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import { finishPendingSignIn } from './pending-sign-in.ts';
import { openSession, type SignedIn } from './sign-in.ts';

/** Challenges that one address may ask for in a minute: each is a row. */
const CHALLENGES_A_MINUTE = 60;

type Proven = { readonly passkey: Passkey; readonly counter: number; readonly backedUp: boolean };
type Purpose = 'passkey_sign_in' | 'passkey_second_factor';

export type PasskeySignIn = ReturnType<typeof passkeySignIn>;

/** Signing in with a passkey, alone or after the password. */
export function passkeySignIn(deps: PasskeyDeps & { readonly guard: Guard }) {
  const { storage, ceremonies, party, guard } = deps;
  const { repositories, inTransaction } = storage;
  const finish = finishPendingSignIn(storage, guard);

  /** The passkey whose private key answered a challenge of ours. The challenge is used up, whatever comes of it. */
  async function prove(
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

  /** Only once: the count decides between two uses that came at the same time. */
  const use = (tx: Repositories, { passkey, counter, backedUp }: Proven): Promise<boolean> =>
    tx.passkeys.used(passkey.id, counter, backedUp);

  return {
    /** Asks for any passkey of this installation, so that nobody learns who has one. */
    async begin(origin: Origin): Promise<Result<BrowserOptions, DomainError>> {
      const at = party();
      if (at === null) return refuse({ code: 'passkeys_unavailable' });
      const taken = await guard.take('challenge', origin, CHALLENGES_A_MINUTE);
      if (!taken.ok) return taken;
      const challenge = newSecret();
      await repositories.pending.insert(sha256(challenge), 'passkey_sign_in', null, WAITING_MINUTES);
      return ok(await ceremonies.requestOptions(at, challenge, null));
    },

    /** A passkey that verified its user is two factors in one: no other is asked for. */
    async signIn(answer: AssertionAnswer, origin: Origin): Promise<Result<SignedIn, DomainError>> {
      const proven = await prove(answer, 'passkey_sign_in', null);
      const userId = proven?.passkey.userId ?? null;
      const attempt = { login: null, userId, origin, by: 'passkey' } as const;
      return await inTransaction(async (tx): Promise<Result<SignedIn, DomainError>> => {
        const locked = userId === null ? null : await tx.users.lockForSignIn(userId);
        const entered = await guard.enter(tx, attempt);
        if (!entered.ok) return entered;
        if (proven === null || locked === null) return refuse(await entered.value.failed());
        if (locked.user.disabledAt !== null) return refuse(await entered.value.failed('disabled'));
        if (!(await use(tx, proven))) return refuse(await entered.value.failed());
        await entered.value.passed();
        return ok(await openSession(tx, locked.user, origin));
      });
    },

    /** Asks for one of the passkeys of the user whose sign-in waits. */
    async beginSecondFactor(mfaToken: string, origin: Origin): Promise<Result<BrowserOptions, DomainError>> {
      const at = party();
      if (at === null) return refuse({ code: 'passkeys_unavailable' });
      const taken = await guard.take('challenge', origin, CHALLENGES_A_MINUTE);
      if (!taken.ok) return taken;
      const waiting = await repositories.pending.find(sha256(mfaToken), 'second_factor');
      if (waiting === null || waiting.userId === null) return refuse({ code: 'login_failed' });
      const challenge = newSecret();
      const { pending } = repositories;
      await pending.insert(sha256(challenge), 'passkey_second_factor', waiting.userId, WAITING_MINUTES);
      const known = await repositories.passkeys.listOf(waiting.userId);
      return ok(await ceremonies.requestOptions(at, challenge, known));
    },

    /** Ends a waiting sign-in with a passkey of the same user. */
    async finish(
      mfaToken: string,
      answer: AssertionAnswer,
      origin: Origin,
    ): Promise<Result<SignedIn, DomainError>> {
      const waiting = await repositories.pending.find(sha256(mfaToken), 'second_factor');
      const owner = waiting?.userId ?? null;
      const proven = owner === null ? null : await prove(answer, 'passkey_second_factor', owner);
      return await finish(
        mfaToken,
        origin,
        async (tx, user) => ok(proven?.passkey.userId === user.id && (await use(tx, proven))),
        (tx, user) => openSession(tx, user, origin),
      );
    },
  };
}
