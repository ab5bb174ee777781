import { type Static, Type } from '@sinclair/typebox';
import { Closed, NamedClosed, NamedObject, Nullable, OneOf, Timestamp } from '../common.ts';
import { pageQuery } from '../pagination.ts';

export const RecordingsQuery = Closed({
  ...pageQuery,
  container: Type.Optional(Type.String({ maxLength: 64, description: 'db_id of a container' })),
});

export const StartRecordingRequest = NamedClosed('StartRecordingRequest', {
  connection_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
});

export const RecordingBody = NamedObject('Recording', {
  id: Type.String(),
  container_id: Type.String({ description: 'db_id of the container, which may no longer exist' }),
  container_name: Type.String(),
  connection_id: Type.String(),
  state: OneOf(['recording', 'ended', 'truncated']),
  cols: Type.Integer(),
  rows: Type.Integer(),
  size_bytes: Type.Integer(),
  duration_ms: Type.Integer(),
  started_at: Timestamp,
  ended_at: Nullable(Timestamp),
  replica: Type.String(),
});

export const RecordingPage = NamedObject('RecordingPage', {
  recordings: Type.Array(RecordingBody),
  next_cursor: Nullable(Type.String()),
});

export const DeletedRecordingBody = NamedObject('RecordingDeleted', {
  id: Type.String(),
  deleted: Type.Literal(true),
});

export type RecordingBody = Static<typeof RecordingBody>;
export type RecordingPage = Static<typeof RecordingPage>;
