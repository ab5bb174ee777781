import { randomBytes } from 'node:crypto';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import {
  type ApiToken,
  checkTokenLimit,
  MAX_ENDED_CHILDREN,
  MAX_LIVE_TOKENS,
  mintToken,
  TOKEN_RANDOM_BYTES,
} from '../../../domain/identity/token.ts';
import { ok } from '../../../domain/result.ts';
import type { EndedTokens, NewToken } from '../../../ports/identity/token-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { sha256 } from '../auth/secrets.ts';

/** A new token; `secret` is the only copy. */
export type MintedToken = { readonly token: ApiToken; readonly secret: string };

/** Records the new token in the same transaction. */
export type NoteToken = (tx: Repositories, token: ApiToken) => Promise<void>;

/** Of a token that a login token makes. */
export const UNLIMITED = {
  parentId: null,
  depth: 0,
  containers: null,
  maxUses: null,
  usesLeft: null,
  notAfter: null,
} as const;

/** Mints and inserts a token with its audit record. The user's row is locked, so the limit `maxLive` is exact. */
export async function insertToken(
  tx: Repositories,
  wanted: Omit<NewToken, 'prefix' | 'hash'>,
  origin: RequestOrigin,
  note?: NoteToken,
  maxLive = MAX_LIVE_TOKENS,
): AsyncResult<MintedToken> {
  const room = await roomForToken(tx, wanted.userId, maxLive);
  if (!room.ok) return room;
  const { secret, prefix } = mintToken(randomBytes(TOKEN_RANDOM_BYTES));
  const token = await tx.tokens.insert({ ...wanted, prefix, hash: sha256(secret) });
  const { parentId, containers, maxUses } = token;
  await record(tx, 'token_created', token, origin, {
    ...(parentId === null ? {} : { parent_id: parentId }),
    ...(containers === null ? {} : { containers }),
    ...(maxUses === null ? {} : { max_uses: maxUses }),
  });
  await note?.(tx, token);
  return ok({ token, secret });
}

/** Whether another token fits. The children that ended first leave the list; the audit keeps their records. */
export async function roomForToken(
  { tokens }: Pick<Repositories, 'tokens'>,
  userId: string,
  maxLive = MAX_LIVE_TOKENS,
): AsyncResult<null> {
  const { live, stored } = await tokens.count(userId);
  const forgotten =
    stored - live > MAX_ENDED_CHILDREN ? await tokens.forgetEndedChildren(userId, MAX_ENDED_CHILDREN) : 0;
  return checkTokenLimit(live, stored - forgotten, maxLive);
}

/** The records of an ended token and of the descendants that ended with it. */
export async function recordEnd(
  tx: Repositories,
  action: 'token_revoked' | 'token_deleted',
  { token, descendants }: EndedTokens,
  origin: RequestOrigin,
): Promise<void> {
  await record(tx, action, token, origin);
  for (const one of descendants)
    await record(tx, 'token_revoked', one, origin, { reason: one.revokedReason, ended_with: token.id });
}

async function record(
  tx: Repositories,
  action: 'token_created' | 'token_revoked' | 'token_deleted',
  { id, userId, prefix }: ApiToken,
  origin: RequestOrigin,
  more: object = {},
): Promise<void> {
  const details = JSON.stringify({ id, token_prefix: prefix, ...more });
  await tx.audit.append({ userId, action, ...origin, details });
}
