import type { FieldFaults } from '../../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  accountFaults,
  type LinkKind,
  type LinkPurpose,
  MAX_OPEN_LINKS,
} from '../../../domain/identity/people/account-link.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { NamedLink } from '../../../ports/identity/people/account-link-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import { mayMakeLasting } from '../account/lasting-credential.ts';
import { lockAdmins } from '../account/lock-caller.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';
import type { Proofs, RequireRecentSignIn } from '../sign-in/reauthentication.ts';

/** A new link, with the only copy of its code. */
export type MadeLink = NamedLink & { readonly code: string };

type LookupDeps = { readonly storage: Storage; readonly throttle: LoginThrottle };

type AdminDeps = { readonly storage: Storage; readonly confirmed: RequireRecentSignIn };

/** An act of an administrator. `needsSignIn`: only with a confirmed sign-in, never by an API token. */
export type AdminAct = {
  readonly caller: Caller;
  readonly given: Proofs;
  readonly origin: RequestOrigin;
  readonly needsSignIn: boolean;
};

/**
 * Does the work in a transaction that has locked all administrators, in one order, so that two acts never deadlock;
 * refuses a caller who is none any more, or whose session may change no way in: the link would outlast it.
 */
export async function asAdmin<T>(
  { storage, confirmed }: AdminDeps,
  { caller, given, origin, needsSignIn }: AdminAct,
  work: (tx: Repositories) => AsyncResult<T>,
): AsyncResult<T> {
  if (needsSignIn) {
    const sure = await confirmed(caller, given, origin);
    if (!sure.ok) return sure;
  }
  return await orRollBack(storage.inTransaction, async (tx) => {
    const admins = await lockAdmins(tx, caller);
    return admins.ok ? await work(tx) : admins;
  });
}

/** ok where the account may have this name, address and tier, and its end has no fault. */
export async function checkAccount(
  tx: Repositories,
  account: Parameters<typeof accountFaults>[0],
  endFaults: FieldFaults,
): AsyncResult<null> {
  const tiers = (await tx.catalogue.tiers()).map(({ name }) => name);
  const fields = { ...accountFaults(account, tiers), ...endFaults };
  return Object.keys(fields).length > 0 ? refuse({ code: 'validation_failed', fields }) : ok(null);
}

/**
 * Makes a link in the caller's transaction, which has locked the administrators. Refused to a token that others end: the
 * link would outlast it.
 */
export async function makeLink(
  tx: Repositories,
  purpose: LinkPurpose,
  caller: Caller,
  lifeHours: number,
): AsyncResult<MadeLink> {
  const lasting = await mayMakeLasting(tx, caller);
  if (!lasting.ok) return lasting;
  if ((await tx.accountLinks.countOpen()) >= MAX_OPEN_LINKS) {
    return refuse({ code: 'link_limit_reached', max: MAX_OPEN_LINKS });
  }
  const code = newSecret();
  const link = { codeHash: sha256(code), purpose, createdBy: caller.user.id };
  return ok({ ...(await tx.accountLinks.insert(link, lifeHours)), code });
}

/**
 * The open link of a code, if its kind is one of these. A wrong code counts for its address like a failed sign-in, and
 * all wrong ones get the same answer.
 */
export async function findLink(
  { storage, throttle }: LookupDeps,
  code: string,
  kinds: readonly LinkKind[],
  origin: RequestOrigin,
): AsyncResult<NamedLink> {
  const attempt = { login: null, userId: null, origin, by: 'account link' } as const;
  const slowed = await throttle.refused(attempt);
  if (slowed !== null) return refuse(slowed);
  const found = await storage.repositories.accountLinks.findOpen(sha256(code));
  if (found !== null && kinds.includes(found.link.purpose.kind)) return ok(found);
  return await storage.inTransaction(async (tx): AsyncResult<NamedLink> => {
    const begun = await throttle.begin(tx, attempt);
    if (!begun.ok) return begun;
    const refusal = await begun.value.failed();
    return refuse(refusal.code === 'rate_limited' ? refusal : LINK_NOT_VALID);
  });
}

export const LINK_NOT_VALID = { code: 'link_not_valid' } as const;
