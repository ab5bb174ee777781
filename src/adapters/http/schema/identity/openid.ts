import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, OneOf, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

const ReturnPath = Type.Optional(Text({ maxLength: 512 }));

/** Browsers open these addresses, so no value is refused here: a redirect shows the failure in the page. */
const Given = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]));

/** `return`: the path where the page goes afterwards; another origin, or anything too long, becomes `/`. */
export const StartQuery = Type.Object({ return: Given }, { additionalProperties: true });

export const Redirected = Type.Null({ description: 'To the provider or the page, also after a failure.' });

/** The provider's answer; it may have more. */
export const CallbackQuery = Type.Object(
  { state: Given, code: Given, iss: Given, error: Given, error_description: Given },
  { additionalProperties: true },
);

const Arrived = { id: Text({ minLength: 1, maxLength: 64 }) };

/** The id from the address to which the callback sent the browser. */
export const ProviderFinish = NamedClosed('ProviderFinish', Arrived);

/** `username`: for a new account, after `provider_username_needed`; ignored where none is made. */
export const ProviderSignInFinish = NamedClosed('ProviderSignInFinish', {
  ...Arrived,
  username: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
});

/** `logout_token` as form data, by OpenID Connect Back-Channel Logout 1.0. */
export const LogoutTokenForm = NamedObject('LogoutTokenForm', {
  logout_token: Type.String({ minLength: 1, maxLength: 16_384 }),
});

export const SignedOutBody = NamedObject('ProviderSignedOut', { ended: Type.Integer() });

export const IdentityBody = NamedObject('Identity', {
  id: Type.String(),
  issuer: Type.String(),
  email: Nullable(Type.String()),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
});

export const IdentityList = NamedObject('IdentityList', {
  identities: Type.Array(IdentityBody),
  next_cursor: nextCursor,
});

export const IdentityListQuery = listQuery(['created_at', 'last_used_at'], ['issuer']);

/** Connecting needs the proofs of a confirmation, unless the sign-in is recent. */
export const IdentityStart = NamedClosed('IdentityStart', {
  purpose: OneOf(['link', 'confirm']),
  return: ReturnPath,
  password: Type.Optional(Text({ minLength: 1, maxLength: 1024 })),
  code: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
});

/** Where the browser goes next. */
export const ProviderUrl = NamedObject('ProviderUrl', { url: Type.String() });

export const IdentityFinishedBody = NamedObject('IdentityFinished', {
  purpose: OneOf(['link', 'confirm']),
  /** The connected one; null after a confirmation. */
  identity: Nullable(IdentityBody),
});

export const IdentityRemovedBody = NamedObject('IdentityRemoved', {
  id: Type.String(),
  deleted: Type.Boolean(),
});

export type IdentityBody = Static<typeof IdentityBody>;
export type IdentityFinishedBody = Static<typeof IdentityFinishedBody>;
