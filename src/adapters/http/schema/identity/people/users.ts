import { type Static, Type } from '@sinclair/typebox';
import {
  Closed,
  Named,
  NamedClosed,
  NamedObject,
  Nullable,
  OneOf,
  Text,
  Time,
  Timestamp,
} from '../../common.ts';
import { pageQuery } from '../../pagination.ts';
import { UserBody } from '../sign-in.ts';
import { ResetLinkMadeBody } from './account-links.ts';
import { proofs, UserRole } from './fields.ts';

/** A user as administrators see one. `last_seen_at`: by a session or an API token. */
export const ManagedUserBody = Named(
  'ManagedUser',
  Type.Composite([
    UserBody,
    Type.Object({
      disabled_reason: Nullable(Type.String()),
      last_seen_at: Nullable(Timestamp),
      containers: Type.Integer(),
      max_containers: Type.Integer(),
      mfa_enabled: Type.Boolean(),
      being_deleted: Type.Boolean({ description: 'Its containers are being deleted first.' }),
      password_set: Type.Boolean({ description: 'False for guests, and until the first password is set.' }),
    }),
  ]),
);

export const UserPageQuery = Closed({
  ...pageQuery,
  role: Type.Optional(UserRole),
  tier: Type.Optional(Text({ maxLength: 64 })),
  search: Type.Optional(Text({ minLength: 1, maxLength: 100 })),
});

export const UserPage = NamedObject('UserPage', {
  users: Type.Array(ManagedUserBody),
  next_cursor: Nullable(Type.String()),
});

/** `password` or `code` confirm it, where an administrator is made or changed. */
export const UserChangeRequest = NamedClosed('UserChangeRequest', {
  tier: Type.Optional(Text({ maxLength: 64 })),
  role: Type.Optional(UserRole),
  disabled: Type.Optional(Type.Boolean()),
  disabled_reason: Type.Optional(Nullable(Text({ maxLength: 200 }))),
  ends_at: Type.Optional(Nullable(Time)),
  ...proofs,
});

/** `password` or `code` confirm it, where an administrator is made. */
export const NewUserRequest = NamedClosed('NewUserRequest', {
  email: Text({ maxLength: 254 }),
  username: Text({ maxLength: 39 }),
  role: Type.Optional(UserRole),
  tier: Type.Optional(Text({ maxLength: 64 })),
  ends_at: Type.Optional(Nullable(Time)),
  ...proofs,
});

/** `link`: for the first password. */
export const UserCreatedBody = NamedObject('UserCreated', { user: ManagedUserBody, link: ResetLinkMadeBody });

/**
 * `containers`: what becomes of the user's containers; without it, a user with containers is refused. `to`: the id of
 * the new owner.
 */
export const UserDeletionRequest = NamedClosed('UserDeletionRequest', {
  containers: Type.Optional(OneOf(['delete', 'transfer'])),
  to: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  ...proofs,
});

/** `deleted` is false while containers are being deleted. */
export const UserDeletedBody = NamedObject('UserDeleted', { id: Type.String(), deleted: Type.Boolean() });

export type ManagedUserBody = Static<typeof ManagedUserBody>;
