import { type Static, Type } from '@sinclair/typebox';
import { Closed, NamedObject, Nullable, Text, Timestamp } from './common.ts';
import { pageQuery } from './pagination.ts';

const Time = Type.String({ maxLength: 40, description: 'ISO 8601 with a time zone' });

const filters = {
  action: Type.Optional(Text({ maxLength: 64 })),
  from: Type.Optional(Time),
  to: Type.Optional(Time),
};

export const AuditQuery = Closed({ ...pageQuery, ...filters });

/** `user`: an id, a name or an email address. */
export const AdminAuditQuery = Closed({
  ...pageQuery,
  ...filters,
  user: Type.Optional(Text({ minLength: 1, maxLength: 254 })),
});

export const AuditRecordBody = NamedObject('AuditRecord', {
  id: Type.String(),
  user_id: Nullable(Type.String()),
  /** For administrators. */
  username: Type.Optional(Nullable(Type.String())),
  action: Type.String(),
  ip_address: Type.String(),
  user_agent: Type.String(),
  details: Type.String(),
  created_at: Timestamp,
});

export const AuditPage = NamedObject('AuditPage', {
  records: Type.Array(AuditRecordBody),
  next_cursor: Nullable(Type.String()),
});

export type AuditQuery = Static<typeof AuditQuery>;
export type AuditRecordBody = Static<typeof AuditRecordBody>;
