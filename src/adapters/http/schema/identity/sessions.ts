import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

export const SessionBody = NamedObject('Session', {
  id: Type.String(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  ip_address: Type.String(),
  user_agent: Type.String(),
  revoked_at: Nullable(Timestamp),
  revoked_reason: Nullable(Type.String()),
  is_current: Type.Boolean(),
});

export const SessionList = NamedObject('SessionList', {
  sessions: Type.Array(SessionBody),
  next_cursor: nextCursor,
});

export const RevokeRequest = NamedClosed('RevokeRequest', {
  reason: Type.Optional(Text({ maxLength: 200 })),
});

export const RevokedBody = NamedObject('SessionRevoked', { revoked: Type.Literal(true) });

export const RevokedOthersBody = NamedObject('SessionsRevoked', {
  revoked: Type.Literal(true),
  count: Type.Integer(),
});

export const SessionListQuery = listQuery(['created_at', 'last_seen_at'], ['ip_address']);

export type SessionBody = Static<typeof SessionBody>;
