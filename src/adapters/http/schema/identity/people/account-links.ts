import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from '../../common.ts';
import { pageQuery } from '../../pagination.ts';
import { proofs, UserRole } from './fields.ts';

const person = Type.Object({ id: Type.String(), username: Type.String() });
const state = Type.Union([
  Type.Literal('open'),
  Type.Literal('used'),
  Type.Literal('withdrawn'),
  Type.Literal('expired'),
]);
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
  user: Nullable(person),
};

/** `user`: who accepted it. */
export const InvitationBody = Named('Invitation', Type.Object(invitation));
export const InvitationMadeBody = Named('InvitationCreated', Type.Object({ ...invitation, url }));
export const InvitationPage = Named(
  'InvitationPage',
  Type.Object({ invitations: Type.Array(InvitationBody), next_cursor: Nullable(Type.String()) }),
);
/** `password` or `code` confirm it, where it makes an administrator. */
export const InvitationRequest = Named(
  'InvitationRequest',
  Closed({
    role: Type.Optional(UserRole),
    tier: Type.Optional(Text({ maxLength: 64 })),
    email: Type.Optional(Nullable(Text({ maxLength: 254 }))),
    username: Type.Optional(Nullable(Text({ maxLength: 39 }))),
    expires_in_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 720 })),
    ...proofs,
  }),
);

const ResetKind = Type.Union([Type.Literal('password'), Type.Literal('second_factor')]);
const resetLink = { ...link, kind: ResetKind, user: person };

export const ResetLinkBody = Named('ResetLink', Type.Object(resetLink));
export const ResetLinkMadeBody = Named('ResetLinkCreated', Type.Object({ ...resetLink, url }));
export const ResetLinkPage = Named(
  'ResetLinkPage',
  Type.Object({ reset_links: Type.Array(ResetLinkBody), next_cursor: Nullable(Type.String()) }),
);
export const ResetLinkRequest = Named('ResetLinkRequest', Closed({ kind: ResetKind, ...proofs }));

export const LinkPageQuery = Closed(pageQuery);
export const LinkWithdrawnBody = Named(
  'LinkWithdrawn',
  Type.Object({ id: Type.String(), withdrawn: Type.Literal(true) }),
);

const code = { code: Text({ minLength: 1, maxLength: 128 }) };

export const LinkCodeRequest = Named('LinkCodeRequest', Closed(code));
/** What an invitation offers. With an `email` or `username`, only that one may accept it. */
export const InvitationOfferBody = Named(
  'InvitationOffer',
  Type.Object({
    role: UserRole,
    tier: Type.String(),
    email: Nullable(Type.String()),
    username: Nullable(Type.String()),
    invited_by: Type.String(),
    expires_at: Timestamp,
  }),
);
export const AcceptRequest = Named(
  'AcceptInvitationRequest',
  Closed({
    ...code,
    email: Text({ maxLength: 254 }),
    username: Text({ maxLength: 39 }),
    password: Text({ maxLength: 1024 }),
  }),
);
export const ResetOfferBody = Named(
  'ResetOffer',
  Type.Object({ kind: ResetKind, username: Type.String(), expires_at: Timestamp }),
);
/** `password`: the new one; for a second factor, the present one. */
export const ResetRequest = Named('ResetRequest', Closed({ ...code, password: Text({ maxLength: 1024 }) }));

export type InvitationBody = Static<typeof InvitationBody>;
export type InvitationOfferBody = Static<typeof InvitationOfferBody>;
export type ResetLinkBody = Static<typeof ResetLinkBody>;
export type ResetOfferBody = Static<typeof ResetOfferBody>;
