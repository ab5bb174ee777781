import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
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
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import type { Proofs, RequireRecentSignIn } from '../sign-in/reauthentication.ts';
import { endOthersOf } from './end-others.ts';
import { withLockedCaller } from './lock-caller.ts';

export type PasskeyDeps = {
  readonly storage: Storage;
  readonly ceremonies: PasskeyCeremonies;
  /** null where browsers offer no passkeys. */
  readonly party: () => RelyingParty | null;
};

export type Passkeys = ReturnType<typeof passkeys>;

type OwnPasskeyDeps = PasskeyDeps & { readonly confirmed: RequireRecentSignIn };

/**
 * A user's own passkeys. Adding and removing them needs a recent sign-in or a confirmation; removing one ends the user's
 * other sessions.
 */
export function passkeys(deps: OwnPasskeyDeps) {
  return {
    list: ({ user }: Caller): Promise<readonly Passkey[]> =>
      deps.storage.repositories.passkeys.listOf(user.id),

    /**
     * Returns the options for the browser, after a confirmation. The challenge is valid for one answer within minutes,
     * by this user.
     */
    begin: (caller: Caller, given: Proofs, origin: RequestOrigin) => begin(deps, caller, given, origin),

    register: (
      caller: Caller,
      answer: RegistrationAnswer,
      wanted: string | undefined,
      origin: RequestOrigin,
    ) => register(deps, caller, { answer, wanted }, origin),

    rename: (id: string, wanted: string, caller: Caller, origin: RequestOrigin) =>
      rename(deps, caller, { id, wanted }, origin),

    remove: (id: string, caller: Caller, given: Proofs, origin: RequestOrigin) =>
      remove(deps, caller, { id, given }, origin),
  };
}

async function begin(
  { storage: { repositories }, ceremonies, party, confirmed }: OwnPasskeyDeps,
  caller: Caller,
  given: Proofs,
  origin: RequestOrigin,
): AsyncResult<BrowserOptions> {
  const { user } = caller;
  const at = party();
  if (at === null) return refuse({ code: 'passkeys_unavailable' });
  const sure = await confirmed(caller, given, origin);
  if (!sure.ok) return sure;
  const challenge = newSecret();
  await repositories.pending.insert(sha256(challenge), 'passkey_registration', user.id, WAITING_MINUTES);
  const known = await repositories.passkeys.listOf(user.id);
  const name = user.email ?? user.username;
  return ok(await ceremonies.creationOptions(at, { id: user.id, name }, challenge, known));
}

async function register(
  deps: OwnPasskeyDeps,
  caller: Caller,
  { answer, wanted }: { readonly answer: RegistrationAnswer; readonly wanted: string | undefined },
  origin: RequestOrigin,
): AsyncResult<Passkey> {
  const { user } = caller;
  const name = checkedName(wanted ?? DEFAULT_PASSKEY_NAME);
  if (!name.ok) return name;
  const made = await prove(deps, answer, user.id);
  if (!made.ok) return made;
  return await withLockedCaller(deps.storage.inTransaction, caller, async (tx) => {
    if ((await tx.passkeys.listOf(user.id)).length >= MAX_PASSKEYS) {
      return refuse({ code: 'passkey_limit_reached', max: MAX_PASSKEYS });
    }
    const passkey = await tx.passkeys.insert({ ...made.value, userId: user.id, name: name.value });
    if (passkey === null) return refuse({ code: 'passkey_registered' });
    await tx.audit.append({ userId: user.id, action: 'passkey_added', ...origin, details: passkey.id });
    return ok(passkey);
  });
}

/** The key pair that answered this user's challenge, which is then used up. */
async function prove(
  { storage, ceremonies, party }: OwnPasskeyDeps,
  answer: RegistrationAnswer,
  userId: string,
): AsyncResult<Registered> {
  const at = party();
  if (at === null) return refuse({ code: 'passkeys_unavailable' });
  const challenge = challengeIn(answer.response.clientDataJSON);
  const { pending } = storage.repositories;
  const asked = challenge && (await pending.spend(sha256(challenge), 'passkey_registration'));
  if (challenge === null || !asked || asked.userId !== userId) return refuse({ code: 'passkey_rejected' });
  const made = await ceremonies.register(at, challenge, answer);
  return made === null ? refuse({ code: 'passkey_rejected' }) : ok(made);
}

async function rename(
  { storage }: OwnPasskeyDeps,
  { user }: Caller,
  { id, wanted }: { readonly id: string; readonly wanted: string },
  origin: RequestOrigin,
): AsyncResult<Passkey> {
  const name = checkedName(wanted);
  if (!name.ok) return name;
  return await orRollBack(storage.inTransaction, async (tx) => {
    const renamed = isUuid(id) ? await tx.passkeys.rename(id, user.id, name.value) : null;
    if (renamed === null) return refuse({ code: 'passkey_not_found' });
    await tx.audit.append({ userId: user.id, action: 'passkey_renamed', ...origin, details: id });
    return ok(renamed);
  });
}

async function remove(
  { storage, confirmed }: OwnPasskeyDeps,
  caller: Caller,
  { id, given }: { readonly id: string; readonly given: Proofs },
  origin: RequestOrigin,
): AsyncResult<null> {
  const { user } = caller;
  const sure = await confirmed(caller, given, origin);
  if (!sure.ok) return sure;
  return await withLockedCaller(storage.inTransaction, caller, async (tx) => {
    if (!isUuid(id) || !(await tx.passkeys.remove(id, user.id))) {
      return refuse({ code: 'passkey_not_found' });
    }
    await tx.audit.append({ userId: user.id, action: 'passkey_removed', ...origin, details: id });
    await endOthersOf(tx, caller, origin);
    return ok(null);
  });
}

function checkedName(wanted: string): Result<string, DomainError> {
  const name = wanted.trim();
  const fields = passkeyNameFaults(name);
  return Object.keys(fields).length > 0 ? refuse({ code: 'validation_failed', fields }) : ok(name);
}
