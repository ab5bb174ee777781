import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, OneOf, Text } from '../common.ts';
import { Reason } from './health.ts';

export const SettingsBody = NamedObject('Settings', {
  open_registration: Type.Boolean(),
  session_idle_minutes: Type.Integer(),
  guests_enabled: Type.Boolean(),
  guest_lifetime_hours: Type.Integer(),
  requests_per_minute: Type.Integer(),
  retention_days: Type.Integer(),
  history_days: Type.Integer(),
  recordings_mb_per_user: Type.Integer(),
  sockets_per_address: Type.Integer(),
  oidc_create_accounts: Type.Boolean(),
  oidc_tier: Type.String(),
  oidc_match_by_email: Type.Boolean(),
});

export const SettingsChange = NamedClosed('SettingsChange', {
  open_registration: Type.Optional(Type.Boolean()),
  session_idle_minutes: Type.Optional(Type.Integer({ minimum: 30, maximum: 1440 })),
  guests_enabled: Type.Optional(Type.Boolean()),
  guest_lifetime_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 8760 })),
  /** Per credential or address; 0 for no limit. */
  requests_per_minute: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  /** How long a deleted container's volume is kept before it is condemned for a day. */
  retention_days: Type.Optional(Type.Integer({ minimum: 0, maximum: 3650 })),
  /** How long ended items are kept; revoked sessions are listed for 30 days. */
  history_days: Type.Optional(Type.Integer({ minimum: 30, maximum: 3650 })),
  recordings_mb_per_user: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_048_576 })),
  /** Per address, in each process. Less would lock out an office behind one address. */
  sockets_per_address: Type.Optional(Type.Integer({ minimum: 250, maximum: 1_000_000 })),
  /** Whether a first sign-in at the OpenID provider makes an account, of tier `oidc_tier`. */
  oidc_create_accounts: Type.Optional(Type.Boolean()),
  oidc_tier: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  /** Whether it opens the account with the provider's verified address; never an administrator's. */
  oidc_match_by_email: Type.Optional(Type.Boolean()),
});

export const VersionBody = NamedObject('Version', { name: Type.String(), version: Type.String() });

export const LiveBody = NamedObject('Liveness', {
  status: OneOf(['live', 'stuck']),
  detail: Type.Optional(Type.String()),
});

/** One part's state; `reason`: why it is not ready; `mend`: the command or step that brings it back. */
const Part = Type.Object({
  status: OneOf(['ready', 'testing', 'degraded', 'down']),
  detail: Type.String(),
  reason: Type.Optional(Reason),
  mend: Type.Optional(Type.String()),
});

const ReadyBody = Type.Object({
  status: OneOf(['ready', 'degraded', 'unready']),
  parts: Type.Object({
    database: Part,
    engine: Part,
    image: Part,
    disk: Part,
    isolation: Part,
    resources: Part,
  }),
});

const PublicPart = NamedObject('PartReadiness', {
  status: Part.properties.status,
  /** For administrators only, like `reason` and `mend`. */
  detail: Type.Optional(Type.String()),
  reason: Type.Optional(Reason),
  mend: Type.Optional(Type.String()),
});

export const ReadyAnswer = NamedObject('Readiness', {
  status: ReadyBody.properties.status,
  parts: Type.Object({
    database: PublicPart,
    engine: PublicPart,
    image: PublicPart,
    disk: PublicPart,
    isolation: PublicPart,
    resources: PublicPart,
  }),
});

export const OpenApiDocument = NamedObject(
  'OpenApiDocument',
  { openapi: Type.String() },
  { additionalProperties: true },
);

export type SettingsBody = Static<typeof SettingsBody>;
export type SettingsChange = Static<typeof SettingsChange>;
export type LiveBody = Static<typeof LiveBody>;
export type ReadyBody = Static<typeof ReadyBody>;
export type ReadyAnswer = Static<typeof ReadyAnswer>;
