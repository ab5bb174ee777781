import type { DomainError } from '../../../domain/errors.ts';
import type { Caller, Origin } from '../../../domain/identity/caller.ts';
import {
  type LinkKind,
  type LinkPurpose,
  MAX_OPEN_LINKS,
} from '../../../domain/identity/people/account-link.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { NamedLink } from '../../../ports/identity/people/account-link-repository.ts';
import type { Repositories, Storage } from '../../../ports/storage.ts';
import type { LoginThrottle } from '../auth/login-throttle.ts';
import { newSecret, sha256 } from '../auth/secrets.ts';

/** A new link, with the only copy of its code. */
export type MadeLink = NamedLink & { readonly code: string };

type LookupDeps = { readonly storage: Storage; readonly throttle: LoginThrottle };

/** Locks all administrators, in one order, so that two acts never deadlock; refuses a caller who is none any more. */
export async function lockedAdmin(tx: Repositories, { user }: Caller): Promise<Result<null, DomainError>> {
  const admins = await tx.users.lockAdmins();
  return admins.includes(user.id) ? ok(null) : refuse({ code: 'not_authorized' });
}

/** Makes a link in the caller's transaction, which has locked the administrators. */
export async function makeLink(
  tx: Repositories,
  purpose: LinkPurpose,
  { user }: Caller,
  lifeHours: number,
): Promise<Result<MadeLink, DomainError>> {
  if ((await tx.accountLinks.countOpen()) >= MAX_OPEN_LINKS) {
    return refuse({ code: 'link_limit_reached', max: MAX_OPEN_LINKS });
  }
  const code = newSecret();
  const link = { codeHash: sha256(code), purpose, createdBy: user.id };
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
  origin: Origin,
): Promise<Result<NamedLink, DomainError>> {
  const attempt = { login: null, userId: null, origin, by: 'account link' } as const;
  const slowed = await throttle.refused(attempt);
  if (slowed !== null) return refuse(slowed);
  const found = await storage.repositories.accountLinks.findOpen(sha256(code));
  if (found !== null && kinds.includes(found.link.purpose.kind)) return ok(found);
  return await storage.inTransaction(async (tx): Promise<Result<NamedLink, DomainError>> => {
    const begun = await throttle.begin(tx, attempt);
    if (!begun.ok) return begun;
    const refusal = await begun.value.failed();
    return refuse(refusal.code === 'rate_limited' ? refusal : LINK_NOT_VALID);
  });
}

export const LINK_NOT_VALID = { code: 'link_not_valid' } as const;
