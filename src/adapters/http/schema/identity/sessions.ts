import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

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

export const SessionList = Named(
  'SessionList',
  Type.Object({ sessions: Type.Array(SessionBody), next_cursor: nextCursor }),
);

export const RevokeRequest = Named(
  'RevokeRequest',
  Closed({ reason: Type.Optional(Text({ maxLength: 200 })) }),
);

export const RevokedBody = Named('SessionRevoked', Type.Object({ revoked: Type.Literal(true) }));

export const RevokedOthersBody = Named(
  'SessionsRevoked',
  Type.Object({ revoked: Type.Literal(true), count: Type.Integer() }),
);

export const SessionListQuery = listQuery(['created_at', 'last_seen_at'], ['ip_address']);

export type SessionBody = Static<typeof SessionBody>;
