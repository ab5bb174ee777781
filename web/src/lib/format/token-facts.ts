import type { ApiToken } from '../../api/types.ts';
import { ago, onDay } from './format.ts';

export const tokenIsOver = ({ revoked_at, expires_at, uses_left }: ApiToken, now: Date): boolean =>
  revoked_at !== null || (expires_at !== null && new Date(expires_at) <= now) || uses_left === 0;

/** One whose requests are counted makes no others. */
export const mayHaveChildren = ({ max_uses }: ApiToken): boolean => max_uses === null;

const ENDED_WITH = {
  parent_revoked: 'with its parent token',
  parent_deleted: 'when its parent token was deleted',
} as const;

function endOf({ revoked_at, revoked_reason, expires_at }: ApiToken, now: Date): string {
  if (revoked_at !== null) {
    const why = revoked_reason === null ? '' : ` ${ENDED_WITH[revoked_reason]}`;
    return `revoked ${ago(revoked_at, now)}${why}`;
  }
  if (expires_at === null) return 'does not expire';
  return `${new Date(expires_at) <= now ? 'expired' : 'expires'} on ${onDay(expires_at)}`;
}

/** `names`: of the user's containers, by db id. */
function reachOf({ containers }: ApiToken, names: ReadonlyMap<string, string>): string | null {
  if (containers === null) return null;
  const known = containers.flatMap((dbId) => names.get(dbId) ?? []);
  const others = containers.length - known.length;
  const rest =
    others === 0 ? [] : [`${others} ${others === 1 ? 'container' : 'containers'} not in your list`];
  return `only for ${[...known, ...rest].join(', ')}`;
}

const usesOf = ({ max_uses, uses_left }: ApiToken): string | null =>
  max_uses === null ? null : `${uses_left} of ${max_uses} requests left`;

/** All that a row shows below the name. */
export const tokenFacts = (token: ApiToken, names: ReadonlyMap<string, string>, now: Date): string =>
  [
    `${token.token_prefix}…`,
    token.scopes.join(', '),
    reachOf(token, names),
    token.last_used_at === null ? 'never used' : `used ${ago(token.last_used_at, now)}`,
    usesOf(token),
    endOf(token, now),
  ]
    .filter((fact) => fact !== null)
    .join(' · ');
