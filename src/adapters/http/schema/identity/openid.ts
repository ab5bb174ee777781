import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from '../common.ts';
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
export const ProviderFinish = Named('ProviderFinish', Closed(Arrived));

/** `logout_token` as form data, by OpenID Connect Back-Channel Logout 1.0. */
export const LogoutTokenForm = Named(
  'LogoutTokenForm',
  Type.Object({ logout_token: Type.String({ minLength: 1, maxLength: 16_384 }) }),
);

export const SignedOutBody = Named('ProviderSignedOut', Type.Object({ ended: Type.Integer() }));

export const IdentityBody = Named(
  'Identity',
  Type.Object({
    id: Type.String(),
    issuer: Type.String(),
    email: Nullable(Type.String()),
    created_at: Timestamp,
    last_used_at: Nullable(Timestamp),
  }),
);

export const IdentityList = Named(
  'IdentityList',
  Type.Object({ identities: Type.Array(IdentityBody), next_cursor: nextCursor }),
);

export const IdentityListQuery = listQuery(['created_at', 'last_used_at'], ['issuer']);

/** Connecting needs the proofs of a confirmation, unless the sign-in is recent. */
export const IdentityStart = Named(
  'IdentityStart',
  Closed({
    purpose: Type.Union([Type.Literal('link'), Type.Literal('confirm')]),
    return: ReturnPath,
    password: Type.Optional(Text({ minLength: 1, maxLength: 1024 })),
    code: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  }),
);

/** Where the browser goes next. */
export const ProviderUrl = Named('ProviderUrl', Type.Object({ url: Type.String() }));

export const IdentityFinishedBody = Named(
  'IdentityFinished',
  Type.Object({
    purpose: Type.Union([Type.Literal('link'), Type.Literal('confirm')]),
    /** The connected one; null after a confirmation. */
    identity: Nullable(IdentityBody),
  }),
);

export const IdentityRemovedBody = Named(
  'IdentityRemoved',
  Type.Object({ id: Type.String(), deleted: Type.Boolean() }),
);

export type IdentityBody = Static<typeof IdentityBody>;
export type IdentityFinishedBody = Static<typeof IdentityFinishedBody>;
