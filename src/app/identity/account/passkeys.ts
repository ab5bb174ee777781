import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, Origin } from '../../../domain/identity/caller.ts';
import {
  challengeIn,
  DEFAULT_PASSKEY_NAME,
  MAX_PASSKEYS,
  type Passkey,
  passkeyNameFaults,
  type RelyingParty,
} from '../../../domain/identity/passkey.ts';
import { WAITING_MINUTES } from '../../../domain/identity/second-factor.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type {
  BrowserOptions,
  PasskeyCeremonies,
  Registered,
  RegistrationAnswer,
} from '../../../ports/identity/passkey-ceremonies.ts';
import type { Storage } from '../../../ports/storage.ts';
import { orRollBack } from '../../transaction.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import type { Confirm, Proofs } from '../sign-in/reauthentication.ts';

export type PasskeyDeps = {
  readonly storage: Storage;
  readonly ceremonies: PasskeyCeremonies;
  /** null where browsers offer no passkeys. */
  readonly party: () => RelyingParty | null;
};

export type Passkeys = ReturnType<typeof passkeys>;

/** A user's own passkeys. They open the account, so adding and removing them is for one who is surely the user. */
export function passkeys({ storage, ceremonies, party, confirmed }: PasskeyDeps & { confirmed: Confirm }) {
  const { repositories, inTransaction } = storage;

  /** The key pair that answered a challenge of this user's. The challenge is used up, whatever comes of it. */
  async function prove(answer: RegistrationAnswer, userId: string): Promise<Result<Registered, DomainError>> {
    const at = party();
    if (at === null) return refuse({ code: 'passkeys_unavailable' });
    const challenge = challengeIn(answer.response.clientDataJSON);
    const { pending } = repositories;
    const asked = challenge && (await pending.spend(sha256(challenge), 'passkey_registration'));
    if (challenge === null || !asked || asked.userId !== userId) return refuse({ code: 'passkey_rejected' });
    const made = await ceremonies.register(at, challenge, answer);
    return made === null ? refuse({ code: 'passkey_rejected' }) : ok(made);
  }

  return {
    list: ({ user }: Caller): Promise<readonly Passkey[]> => repositories.passkeys.listOf(user.id),

    /** What the browser needs to make one, for who is surely the user. The challenge is good for one answer within minutes, of this user's. */
    async begin(caller: Caller, given: Proofs, origin: Origin): Promise<Result<BrowserOptions, DomainError>> {
      const { user } = caller;
      const at = party();
      if (at === null) return refuse({ code: 'passkeys_unavailable' });
      const sure = await confirmed(caller, given, origin);
      if (!sure.ok) return sure;
      const challenge = newSecret();
      const { pending } = repositories;
      await pending.insert(sha256(challenge), 'passkey_registration', user.id, WAITING_MINUTES);
      const known = await repositories.passkeys.listOf(user.id);
      const name = user.email ?? user.username;
      return ok(await ceremonies.creationOptions(at, { id: user.id, name }, challenge, known));
    },

    async register(
      { user }: Caller,
      answer: RegistrationAnswer,
      wanted: string | undefined,
      origin: Origin,
    ): Promise<Result<Passkey, DomainError>> {
      const name = (wanted ?? DEFAULT_PASSKEY_NAME).trim();
      const fields = passkeyNameFaults(name);
      if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
      const made = await prove(answer, user.id);
      if (!made.ok) return made;
      return await orRollBack(inTransaction, async (tx) => {
        await tx.users.lock(user.id);
        if ((await tx.passkeys.listOf(user.id)).length >= MAX_PASSKEYS) {
          return refuse({ code: 'passkey_limit_reached', max: MAX_PASSKEYS });
        }
        const passkey = await tx.passkeys.insert({ ...made.value, userId: user.id, name });
        if (passkey === null) return refuse({ code: 'passkey_registered' });
        await tx.audit.append({ userId: user.id, action: 'passkey_added', ...origin, details: passkey.id });
        return ok(passkey);
      });
    },

    async rename(
      id: string,
      wanted: string,
      { user }: Caller,
      origin: Origin,
    ): Promise<Result<Passkey, DomainError>> {
      const name = wanted.trim();
      const fields = passkeyNameFaults(name);
      if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
      return await orRollBack(inTransaction, async (tx) => {
        const renamed = isUuid(id) ? await tx.passkeys.rename(id, user.id, name) : null;
        if (renamed === null) return refuse({ code: 'passkey_not_found' });
        await tx.audit.append({ userId: user.id, action: 'passkey_renamed', ...origin, details: id });
        return ok(renamed);
      });
    },

    async remove(
      id: string,
      caller: Caller,
      given: Proofs,
      origin: Origin,
    ): Promise<Result<null, DomainError>> {
      const { user } = caller;
      const sure = await confirmed(caller, given, origin);
      if (!sure.ok) return sure;
      return await orRollBack(inTransaction, async (tx) => {
        if (!isUuid(id) || !(await tx.passkeys.remove(id, user.id))) {
          return refuse({ code: 'passkey_not_found' });
        }
        await tx.audit.append({ userId: user.id, action: 'passkey_removed', ...origin, details: id });
        return ok(null);
      });
    },
  };
}
