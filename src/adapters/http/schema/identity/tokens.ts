import { type Static, Type } from '@sinclair/typebox';
import { Named, NamedClosed, NamedObject, Nullable, OneOf, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';
import { UserBody } from './sign-in.ts';

const Scope = OneOf(['read', 'write', 'admin']);

/** Documentation; the domain validates, in the interface's words. */
export const TokenRequestBody = NamedClosed('ApiTokenRequest', {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  scopes: Type.Optional(Type.Array(Scope, { minItems: 1, default: ['read', 'write'] })),
  expires_in: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 3650, description: 'days' })),
});

/** Documentation, like the one above. */
export const ChildTokenRequestBody = NamedClosed('ChildTokenRequest', {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  scopes: Type.Optional(
    Type.Array(Scope, { minItems: 1, description: 'Default: those of the token that asks.' }),
  ),
  containers: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      minItems: 1,
      maxItems: 50,
      description: 'Db ids or names: it reaches nothing else. Default: those of the token that asks.',
    }),
  ),
  expires_in: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 3650, description: 'days' })),
  expires_in_minutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 5_256_000, description: 'instead of `expires_in`' }),
  ),
  max_uses: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Requests that it admits in all.' }),
  ),
  parent_id: Type.Optional(
    Type.String({
      description: 'With a login token: the token of yours that it is below, as if that one asked.',
    }),
  ),
});

/** What makes a token narrower than its user's rights. */
const limits = {
  containers: Nullable(
    Type.Array(Type.String(), { description: 'Db ids: it reaches nothing else. Null for no restriction.' }),
  ),
  uses_left: Nullable(Type.Integer({ description: 'Requests left; null without a count.' })),
};

const lineage = {
  ...limits,
  parent_id: Nullable(Type.String({ description: 'The token that made it.' })),
  max_uses: Nullable(Type.Integer()),
};

export const CreatedTokenBody = NamedObject('ApiTokenCreated', {
  token: Type.String({ description: 'The secret. Shown only once.' }),
  token_prefix: Type.String(),
  expires_at: Nullable(Timestamp),
  id: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Scope),
  created_at: Timestamp,
});

export const DerivedTokenBody = Named(
  'ChildTokenCreated',
  Type.Composite([CreatedTokenBody, Type.Object(lineage)]),
);

export const TokenBody = NamedObject('ApiToken', {
  id: Type.String(),
  name: Type.String(),
  token_prefix: Type.String(),
  scopes: Type.Array(Scope),
  created_at: Timestamp,
  expires_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  revoked_at: Nullable(Timestamp),
  revoked_reason: Nullable(
    OneOf(['parent_revoked', 'parent_deleted'], { description: 'Null unless it ended with its parent.' }),
  ),
  ...lineage,
});

export const TokenList = NamedObject('ApiTokenList', {
  tokens: Type.Array(TokenBody),
  next_cursor: nextCursor,
});

export const RevokedTokenBody = NamedObject('ApiTokenRevoked', {
  id: Type.String(),
  revoked: Type.Literal(true),
  revoked_at: Nullable(Timestamp),
});

export const DeletedTokenBody = NamedObject('ApiTokenDeleted', {
  id: Type.String(),
  deleted: Type.Literal(true),
});

export const ValidTokenBody = NamedObject('ApiTokenValid', {
  valid: Type.Literal(true),
  scopes: Type.Array(Scope),
  ...limits,
  user: Named('TokenUser', Type.Pick(UserBody, ['id', 'username', 'email', 'tier', 'role'])),
});

export const TokenListQuery = listQuery(['created_at', 'name', 'last_used_at', 'expires_at'], ['name']);

export type TokenBody = Static<typeof TokenBody>;
export type DerivedTokenBody = Static<typeof DerivedTokenBody>;
export type CreatedTokenBody = Static<typeof CreatedTokenBody>;
export type ValidTokenBody = Static<typeof ValidTokenBody>;
