import type { DomainError } from '../errors.ts';
import type { FieldFaults } from '../field-faults.ts';
import { ok, type Result, refuse } from '../result.ts';
import { grants, type Scope } from './scope.ts';
import {
  type ApiToken,
  checkTokenRequest,
  type TokenDraft,
  type TokenLimits,
  type TokenRequest,
  tokenState,
} from './token.ts';

/**
 * Child tokens. A token makes narrower ones: no scope, container or time that it lacks itself. Its scopes, containers
 * and end never change, so a child is narrower for as long as both live; it ends with each of its ancestors.
 */
export const MAX_TOKEN_DEPTH = 5;
export const MAX_TOKEN_CONTAINERS = 50;
export const MAX_TOKEN_USES = 1_000_000;
const MAX_LIFE_MINUTES = 3650 * 24 * 60;
const MINUTE_MS = 60_000;

/** A request as given: each field may be anything. */
export type ChildDraft = TokenDraft & {
  readonly expiresInMinutes?: unknown;
  readonly containers?: unknown;
  readonly maxUses?: unknown;
  /** The parent of the new token, when a login token asks. */
  readonly parentId?: unknown;
};

/** `containers`: db ids and names as given; null for the parent's. */
export type ChildRequest = TokenRequest &
  Pick<TokenLimits, 'containers' | 'maxUses'> & {
    /** The field that gave the life, for its faults. */
    readonly lifeField: 'lifeDays' | 'expiresInMinutes';
  };

/** Absent scopes are the parent's, or the usual ones under a login token. Every fault at once. */
export function checkChildRequest(
  { expiresInMinutes, containers, maxUses, parentId: _parent, ...rest }: ChildDraft,
  parentScopes: readonly Scope[] | null,
): Result<ChildRequest, DomainError> {
  const draft = parentScopes === null ? rest : { ...rest, scopes: rest.scopes ?? parentScopes };
  const request = checkTokenRequest(draft);
  const fields: FieldFaults = {
    ...(request.ok || request.error.code !== 'validation_failed' ? {} : request.error.fields),
    ...lifeFaults(expiresInMinutes, rest.lifeDays),
    ...(containers === undefined || areReferences(containers)
      ? {}
      : { containers: `must be 1 to ${MAX_TOKEN_CONTAINERS} db ids or names of containers` }),
    ...(maxUses === undefined || isCount(maxUses, MAX_TOKEN_USES)
      ? {}
      : { maxUses: `must be a whole number from 1 to ${MAX_TOKEN_USES}` }),
  };
  if (!request.ok || Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  return ok({
    ...request.value,
    ...(isCount(expiresInMinutes, MAX_LIFE_MINUTES) ? { lifeMs: expiresInMinutes * MINUTE_MS } : {}),
    lifeField: expiresInMinutes === undefined ? 'lifeDays' : 'expiresInMinutes',
    containers: areReferences(containers) ? containers : null,
    maxUses: isCount(maxUses, MAX_TOKEN_USES) ? maxUses : null,
  });
}

function lifeFaults(expiresInMinutes: unknown, lifeDays: unknown): FieldFaults {
  if (expiresInMinutes === undefined) return {};
  if (lifeDays !== undefined) return { expiresInMinutes: 'must not be given beside a number of days' };
  return isCount(expiresInMinutes, MAX_LIFE_MINUTES)
    ? {}
    : { expiresInMinutes: `must be a whole number from 1 to ${MAX_LIFE_MINUTES}` };
}

const isCount = (value: unknown, max: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= max;

const areReferences = (value: unknown): value is readonly string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_TOKEN_CONTAINERS &&
  value.every((one) => typeof one === 'string' && one !== '');

/** A container that the caller sees; `name` is null for another user's, whose name may equal an own one's. */
export type Nameable = { readonly dbId: string; readonly name: string | null };

/** The db ids that are meant. Unknown ones and those that the caller may not see are one fault. */
export function resolveContainers(
  references: readonly string[],
  visible: readonly Nameable[],
): Result<readonly string[], DomainError> {
  const found = references.map(
    (reference) =>
      visible.find(({ dbId }) => dbId === reference.toLowerCase()) ??
      visible.find(({ name }) => name === reference),
  );
  const dbIds = found.flatMap((one) => (one === undefined ? [] : [one.dbId]));
  return dbIds.length === found.length
    ? ok([...new Set(dbIds)])
    : refuse({
        code: 'validation_failed',
        fields: { containers: 'must be db ids or names of containers of yours' },
      });
}

/** The limits of a child; `containers` are db ids. `now` is the database's clock. */
export function narrow(
  parent: ApiToken,
  { scopes, lifeMs, lifeField, containers, maxUses }: ChildRequest,
  now: Date,
): Result<TokenLimits, DomainError> {
  if (tokenState(parent, now) !== 'active') return refuse({ code: 'api_token_rejected' });
  if (parent.maxUses !== null || parent.depth + 1 > MAX_TOKEN_DEPTH)
    return refuse({ code: 'token_cannot_derive' });
  const { expiresAt } = parent;
  const endsLater = lifeMs !== null && expiresAt !== null && now.getTime() + lifeMs > expiresAt.getTime();
  const wider = containers?.some((dbId) => !(parent.containers?.includes(dbId) ?? true)) ?? false;
  const fields: FieldFaults = {
    ...(scopes.every((scope) => grants(parent.scopes, scope))
      ? {}
      : { scopes: 'must not exceed those of the token that asks' }),
    ...(endsLater ? { [lifeField]: 'must not be later than the end of the token that asks' } : {}),
    ...(wider ? { containers: 'must be db ids or names of containers of yours' } : {}),
  };
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  return ok({
    parentId: parent.id,
    depth: parent.depth + 1,
    containers: containers ?? parent.containers,
    maxUses,
    usesLeft: maxUses,
  });
}

/** The limits of a token that a login token makes. */
export const limitsWithoutParent = ({
  containers,
  maxUses,
}: Pick<ChildRequest, 'containers' | 'maxUses'>): TokenLimits => ({
  parentId: null,
  depth: 0,
  containers,
  maxUses,
  usesLeft: maxUses,
});
