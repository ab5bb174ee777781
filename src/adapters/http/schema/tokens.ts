import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Timestamp } from './common.ts';
import { listQuery, nextCursor } from './pagination.ts';
import { UserBody } from './sign-in.ts';

const Scope = Type.Union([Type.Literal('read'), Type.Literal('write'), Type.Literal('admin')]);

/** Documentation; the domain validates, in the interface's words. */
export const TokenRequestBody = Named(
  'ApiTokenRequest',
  Closed({
    name: Type.String({ minLength: 1, maxLength: 100 }),
    scopes: Type.Optional(Type.Array(Scope, { minItems: 1, default: ['read', 'write'] })),
    expires_in: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 3650, description: 'days' })),
  }),
);

export const CreatedTokenBody = Named(
  'ApiTokenCreated',
  Type.Object({
    token: Type.String({ description: 'The secret. Shown only once.' }),
    token_prefix: Type.String(),
    expires_at: Nullable(Timestamp),
    id: Type.String(),
    name: Type.String(),
    scopes: Type.Array(Scope),
    created_at: Timestamp,
  }),
);

export const TokenBody = Named(
  'ApiToken',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    token_prefix: Type.String(),
    scopes: Type.Array(Scope),
    created_at: Timestamp,
    expires_at: Nullable(Timestamp),
    last_used_at: Nullable(Timestamp),
    revoked_at: Nullable(Timestamp),
  }),
);

export const TokenList = Named(
  'ApiTokenList',
  Type.Object({ tokens: Type.Array(TokenBody), next_cursor: nextCursor }),
);

export const RevokedTokenBody = Named(
  'ApiTokenRevoked',
  Type.Object({
    id: Type.String(),
    revoked: Type.Literal(true),
    revoked_at: Nullable(Timestamp),
  }),
);

export const DeletedTokenBody = Named(
  'ApiTokenDeleted',
  Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
);

export const ValidTokenBody = Named(
  'ApiTokenValid',
  Type.Object({
    valid: Type.Literal(true),
    scopes: Type.Array(Scope),
    user: Named('TokenUser', Type.Pick(UserBody, ['id', 'username', 'email', 'tier', 'role'])),
  }),
);

export const TokenListQuery = listQuery(['created_at', 'name', 'last_used_at', 'expires_at'], ['name']);

export type TokenBody = Static<typeof TokenBody>;
export type CreatedTokenBody = Static<typeof CreatedTokenBody>;
export type ValidTokenBody = Static<typeof ValidTokenBody>;
