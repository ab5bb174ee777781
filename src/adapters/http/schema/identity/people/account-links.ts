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
import { MfaRequiredBody, SignedInBody } from '../sign-in.ts';
import { proofs, UserRole } from './fields.ts';

const person = Type.Object({ id: Type.String(), username: Type.String() });
const state = OneOf(['open', 'used', 'withdrawn', 'expired']);
const link = {
  id: Type.String(),
  state,
  created_at: Timestamp,
  created_by: person,
  expires_at: Timestamp,
  used_at: Nullable(Timestamp),
  withdrawn_at: Nullable(Timestamp),
};
/** With the code behind `#`, which browsers send to no server. */
const url = Type.String({ description: 'For one person. It is not shown again.' });

const invitation = {
  ...link,
  role: UserRole,
  tier: Type.String(),
  email: Nullable(Type.String()),
  username: Nullable(Type.String()),
  account_ends_at: Nullable(Timestamp),
  user: Nullable(person),
};

/** `user`: who accepted it. */
export const InvitationBody = NamedObject('Invitation', invitation);
export const InvitationMadeBody = NamedObject('InvitationCreated', { ...invitation, url });
export const InvitationPage = NamedObject('InvitationPage', {
  invitations: Type.Array(InvitationBody),
  next_cursor: Nullable(Type.String()),
});
/** `password` or `code` confirm it, where it makes an administrator. */
export const InvitationRequest = NamedClosed('InvitationRequest', {
  role: Type.Optional(UserRole),
  tier: Type.Optional(Text({ maxLength: 64 })),
  email: Type.Optional(Nullable(Text({ maxLength: 254 }))),
  username: Type.Optional(Nullable(Text({ maxLength: 39 }))),
  expires_in_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 720 })),
  account_ends_at: Type.Optional(Nullable(Time)),
  ...proofs,
});

const ResetKind = OneOf(['password', 'second_factor']);
const resetLink = { ...link, kind: ResetKind, user: person };

export const ResetLinkBody = NamedObject('ResetLink', resetLink);
export const ResetLinkMadeBody = NamedObject('ResetLinkCreated', { ...resetLink, url });
export const ResetLinkPage = NamedObject('ResetLinkPage', {
  reset_links: Type.Array(ResetLinkBody),
  next_cursor: Nullable(Type.String()),
});
export const ResetLinkRequest = NamedClosed('ResetLinkRequest', { kind: ResetKind, ...proofs });

export const LinkPageQuery = Closed({
  ...pageQuery,
  state: Type.Optional(
    Type.Literal('open', { description: 'Only those that can still be used. Without it: in any state.' }),
  ),
});
export const LinkWithdrawnBody = NamedObject('LinkWithdrawn', {
  id: Type.String(),
  withdrawn: Type.Literal(true),
});

const code = { code: Text({ minLength: 1, maxLength: 128 }) };

export const LinkCodeRequest = NamedClosed('LinkCodeRequest', code);
/** What an invitation offers. With an `email` or `username`, only that one may accept it. */
export const InvitationOfferBody = NamedObject('InvitationOffer', {
  role: UserRole,
  tier: Type.String(),
  email: Nullable(Type.String()),
  username: Nullable(Type.String()),
  account_ends_at: Nullable(Timestamp),
  invited_by: Type.String(),
  expires_at: Timestamp,
});
export const AcceptRequest = NamedClosed('AcceptInvitationRequest', {
  ...code,
  email: Text({ maxLength: 254 }),
  username: Text({ maxLength: 39 }),
  password: Text({ maxLength: 1024 }),
});
export const ResetOfferBody = NamedObject('ResetOffer', {
  kind: ResetKind,
  username: Type.String(),
  expires_at: Timestamp,
});
/** `password`: the new one; for a second factor, the present one. */
export const ResetRequest = NamedClosed('ResetRequest', { ...code, password: Text({ maxLength: 1024 }) });

const remaining = Type.Object({
  kind: OneOf(['passkey', 'connected_sign_in', 'ssh_key', 'share_link']),
  id: Type.String(),
  name: Type.String({ description: 'Of a share link, the name of the container.' }),
  created_at: Timestamp,
});
/** `remaining`: what still opens the account, or a container of it. */
const ResetSignedInBody = Named(
  'ResetSignedIn',
  Type.Composite([SignedInBody, Type.Object({ remaining: Type.Array(remaining) })]),
);
export const ResetDoneBody = Named('ResetDone', Type.Union([ResetSignedInBody, MfaRequiredBody]));

export type InvitationBody = Static<typeof InvitationBody>;
export type InvitationOfferBody = Static<typeof InvitationOfferBody>;
export type ResetLinkBody = Static<typeof ResetLinkBody>;
export type ResetOfferBody = Static<typeof ResetOfferBody>;
