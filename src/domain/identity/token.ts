import type { DomainError } from '../errors.ts';
import type { FieldFaults } from '../field-faults.ts';
import { ok, type Result, refuse } from '../result.ts';
import { isDisabled } from './people/account-end.ts';
import type { Scope } from './scope.ts';
import type { User } from './user.ts';

/**
 * API tokens. Times are stored, the state is derived:
 *
 *   active --revoke--> revoked      active --time passes--> expired      any --delete--> deleted (no row)
 *   active --last use--> used_up
 *
 * The revocation or deletion of a token revokes its children (`child-token.ts`) too.
 */
export type ApiToken = {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** The first characters of the secret, which tell tokens apart in a list. */
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  /** null: never. */
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
  /** null when it was not revoked, or not because of its parent. */
  readonly revokedReason: TokenEnd | null;
} & TokenLimits;

/** What ended a child token from outside. */
export type TokenEnd = 'parent_revoked' | 'parent_deleted';

/** What makes a token narrower than its user's rights. */
export type TokenLimits = {
  /** The token that made it; null for one that a login token made, or whose parent was deleted. */
  readonly parentId: string | null;
  /** Ancestors at its creation. */
  readonly depth: number;
  /** The db ids of the only containers that it reaches; null for all of its user's. */
  readonly containers: readonly string[] | null;
  /** Requests that it admits in all; null without a count. */
  readonly maxUses: number | null;
  readonly usesLeft: number | null;
};

export type ApiTokenState = 'active' | 'revoked' | 'expired' | 'used_up' | 'deleted';

export const TOKEN_START = 'svc_';
export const TOKEN_PREFIX_LENGTH = 12;
export const TOKEN_RANDOM_BYTES = 32;
/** Live tokens per user. */
export const MAX_LIVE_TOKENS = 100;
/** Above this number of live ones a token makes no other: the rest is for its user. */
export const MAX_LIVE_FOR_TOKENS = 80;
/** Tokens in a list, ended ones included, so that endless creation does not fill the database. */
export const MAX_STORED_TOKENS = 10_000;
/** Ended tokens of a list that have a token above them. The first to end leave it, so that no token fills its user's list. */
export const MAX_ENDED_CHILDREN = 1_000;

const SECRET = /^svc_[0-9a-f]{64}$/;

/** Whether the text can be an API token; otherwise it is refused without a query. */
export const isTokenShaped = (text: string): boolean => SECRET.test(text);

/** `now` is the database's clock; null is a missing token. */
export function tokenState(token: ApiToken | null, now: Date): ApiTokenState {
  if (token === null) return 'deleted';
  if (token.revokedAt !== null) return 'revoked';
  if (token.expiresAt !== null && token.expiresAt <= now) return 'expired';
  return token.usesLeft === 0 ? 'used_up' : 'active';
}

/** A token authenticates while it is active and its user is enabled. */
export const tokenAccepted = (token: ApiToken, user: User, now: Date): boolean =>
  tokenState(token, now) === 'active' && !isDisabled(user, now);

/** Whether a request that the token began may continue: its last use may outlast the count. */
export const tokenStillGood = (token: ApiToken, user: User, now: Date): boolean =>
  ['active', 'used_up'].includes(tokenState(token, now)) && !isDisabled(user, now);

/**
 * Whether another token or a count ends it: then it may make no access that would outlast it. A token of its user
 * with an end may: scope `write` includes SSH keys.
 */
export const isDependent = ({ parentId, depth, maxUses }: ApiToken): boolean =>
  parentId !== null || depth > 0 || maxUses !== null;

/** The secret from `TOKEN_RANDOM_BYTES` random bytes, and the prefix that may be shown. */
export function mintToken(random: Buffer): { readonly secret: string; readonly prefix: string } {
  if (random.length !== TOKEN_RANDOM_BYTES) throw new Error('a token has 32 random bytes');
  const secret = `${TOKEN_START}${random.toString('hex')}`;
  return { secret, prefix: secret.slice(0, TOKEN_PREFIX_LENGTH) };
}

/** Whether another token fits beside `live` and `stored` ones. */
export const checkTokenLimit = (
  live: number,
  stored: number,
  max = MAX_LIVE_TOKENS,
): Result<null, DomainError> =>
  live < max && stored < MAX_STORED_TOKENS ? ok(null) : refuse({ code: 'token_limit_reached', max });

/** A token allows at most what its user may do: `admin` is for administrators. */
export const mayGrant = (user: User, scopes: readonly Scope[]): Result<null, DomainError> =>
  scopes.includes('admin') && user.role !== 'admin' ? refuse({ code: 'not_authorized' }) : ok(null);

export type TokenRequest = {
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** At least 1; null for a token that does not expire. */
  readonly lifeMs: number | null;
};

const SCOPES: ReadonlySet<unknown> = new Set<Scope>(['read', 'write', 'admin']);
const DEFAULT_SCOPES: readonly Scope[] = ['read', 'write'];
const MAX_NAME_LENGTH = 100;
const MAX_LIFE_DAYS = 3650;
const DAY_MS = 86_400_000;
/** Control characters, and unpaired surrogates, which no database can store. */
const NOT_TEXT = /[\p{Cc}\p{Cs}]/u;

/** A request as given: each field may be anything; absent ones have defaults. */
export type TokenDraft = { readonly name?: unknown; readonly scopes?: unknown; readonly lifeDays?: unknown };

/** Every fault at once, the name's first, since it is the one that the interface words. */
export function checkTokenRequest(draft: TokenDraft): Result<TokenRequest, DomainError> {
  const name = typeof draft.name === 'string' ? draft.name.trim() : '';
  const { scopes = DEFAULT_SCOPES, lifeDays } = draft;
  const fields: FieldFaults = {
    ...nameFaults(name),
    ...(isScopes(scopes) ? {} : { scopes: 'must be one or more of read, write and admin' }),
    ...(lifeDays === undefined || isLife(lifeDays)
      ? {}
      : { lifeDays: `must be above 0 and at most ${MAX_LIFE_DAYS}` }),
  };
  if (Object.keys(fields).length > 0 || !isScopes(scopes))
    return refuse({ code: 'validation_failed', fields });
  const lifeMs = isLife(lifeDays) ? Math.ceil(lifeDays * DAY_MS) : null;
  return ok({ name, scopes: [...new Set(scopes)], lifeMs });
}

function nameFaults(name: string): FieldFaults {
  if (name === '') return { name: 'is required' };
  if (NOT_TEXT.test(name)) return { name: 'must not have control characters' };
  return [...name].length > MAX_NAME_LENGTH
    ? { name: `must have at most ${MAX_NAME_LENGTH} characters` }
    : {};
}

const isScopes = (value: unknown): value is readonly Scope[] =>
  Array.isArray(value) && value.length > 0 && value.every((scope) => SCOPES.has(scope));

const isLife = (value: unknown): value is number =>
  typeof value === 'number' && value > 0 && value <= MAX_LIFE_DAYS;
