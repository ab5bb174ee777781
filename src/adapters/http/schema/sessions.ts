import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from './common.ts';

export const SessionBody = Named(
  'Session',
  Type.Object({
    id: Type.String(),
    created_at: Timestamp,
    last_seen_at: Timestamp,
    ip_address: Type.String(),
    user_agent: Type.String(),
    revoked_at: Nullable(Timestamp),
    revoked_reason: Nullable(Type.String()),
    is_current: Type.Boolean(),
  }),
);

export const SessionList = Named('SessionList', Type.Object({ sessions: Type.Array(SessionBody) }));

export const RevokeRequest = Named(
  'RevokeRequest',
  Closed({ reason: Type.Optional(Text({ maxLength: 200 })) }),
);

export const RevokedBody = Named('SessionRevoked', Type.Object({ revoked: Type.Literal(true) }));

export const RevokedOthersBody = Named(
  'SessionsRevoked',
  Type.Object({ revoked: Type.Literal(true), count: Type.Integer() }),
);

export type SessionBody = Static<typeof SessionBody>;
