import type { DomainError } from '../errors.ts';
import { ok, type Result, refuse } from '../result.ts';
import { grants, type RouteScope, type Scope } from './scope.ts';
import type { User } from './user.ts';

export type Credential =
  | {
      readonly kind: 'login';
      readonly sessionId: string;
      readonly locked: boolean;
      /** A passkey that outlived a reset opened it, within the last hour. */
      readonly barred: boolean;
    }
  | {
      readonly kind: 'api_token';
      readonly tokenId: string;
      /** Its first characters, which its owner sees. */
      readonly prefix: string;
      readonly name: string;
      readonly scopes: readonly Scope[];
      /** The db ids of the only containers that it reaches; null for all of its user's. */
      readonly containers: readonly string[] | null;
      /** After this request; null without a count. */
      readonly usesLeft: number | null;
    }
  | {
      readonly kind: 'ssh_key';
      readonly keyId: string;
      readonly fingerprint: string;
      readonly scopes: readonly Scope[];
    };

export function credentialId(credential: Credential): string {
  switch (credential.kind) {
    case 'login':
      return credential.sessionId;
    case 'api_token':
      return credential.tokenId;
    case 'ssh_key':
      return credential.keyId;
  }
}

/** Who asks: the user's present state, the credential, and where the request came from. */
export type Caller = { readonly user: User; readonly credential: Credential };

/** Where a request comes from, for sessions and audit records; not the `Origin` of a web page. */
export type RequestOrigin = { readonly ipAddress: string; readonly userAgent: string };

/** By the user's present role and, for an API token or SSH key, its scope. */
export const isAdmin = (caller: Caller): boolean => hasScope(caller, 'admin') && caller.user.role === 'admin';

/** Whether the credential has the scope, whatever its user's role; a sign-in has all. */
export const hasScope = ({ credential }: Pick<Caller, 'credential'>, scope: Scope): boolean =>
  credential.kind === 'login' || grants(credential.scopes, scope);

/** Whether the credential is limited to some containers. */
export const isRestricted = ({ credential }: Pick<Caller, 'credential'>): boolean =>
  credential.kind === 'api_token' && credential.containers !== null;

/** A token restricted to containers may use only the routes that say so: `forRestricted`. */
export const admitRestricted = (
  caller: Pick<Caller, 'credential'>,
  forRestricted = false,
): Result<null, DomainError> =>
  isRestricted(caller) && !forRestricted ? refuse({ code: 'token_restricted' }) : ok(null);

export const isBarred = ({ credential }: Pick<Caller, 'credential'>): boolean =>
  credential.kind === 'login' && credential.barred;

/**
 * If an intruder's passkey outlived a reset, the owner is about to remove it. Its session administers nothing, and uses
 * no route by which the intruder could stay or do lasting harm: those are marked `shutAfterReset`.
 */
export const admitBarred = (
  caller: Pick<Caller, 'credential'>,
  scope: RouteScope,
  shutAfterReset = false,
): Result<null, DomainError> =>
  isBarred(caller) && (shutAfterReset || scope === 'admin')
    ? refuse({ code: 'new_password_required' })
    : ok(null);

/** Whether the credential may know of this container, if its user may. */
export const reaches = ({ credential }: Pick<Caller, 'credential'>, dbId: string): boolean =>
  credential.kind !== 'api_token' || (credential.containers?.includes(dbId) ?? true);

/** API tokens and SSH keys have no screen. */
export const isLocked = ({ credential }: Caller): boolean => credential.kind === 'login' && credential.locked;

/** Whether the caller may use a route with this scope; `whileLocked` marks the few open to a locked session. */
export function authorize(
  caller: Caller,
  scope: RouteScope,
  whileLocked = false,
): Result<Caller, DomainError> {
  const { credential } = caller;
  const shut = isLocked(caller) && !whileLocked && scope !== 'public' && scope !== 'api_token';
  if (shut) return refuse({ code: 'session_locked' });
  switch (scope) {
    case 'public':
      return ok(caller);
    case 'login':
      return credential.kind === 'login' ? ok(caller) : refuse({ code: 'login_token_required' });
    case 'api_token':
      return credential.kind === 'api_token' ? ok(caller) : refuse({ code: 'api_token_rejected' });
    case 'read':
    case 'write':
    case 'admin': {
      if (!hasScope(caller, scope)) return refuse({ code: 'insufficient_scope' });
      return scope === 'admin' && caller.user.role !== 'admin'
        ? refuse({ code: 'not_authorized' })
        : ok(caller);
    }
  }
}
