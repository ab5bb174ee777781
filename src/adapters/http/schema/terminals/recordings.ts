import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Timestamp } from '../common.ts';
import { pageQuery } from '../pagination.ts';

export const RecordingsQuery = Closed({
  ...pageQuery,
  container: Type.Optional(Type.String({ maxLength: 64, description: 'db_id of a container' })),
});

export const StartRecordingRequest = Named(
  'StartRecordingRequest',
  Closed({
    connection_id: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' })),
  }),
);

export const RecordingBody = Named(
  'Recording',
  Type.Object({
    id: Type.String(),
    container_id: Type.String({ description: 'db_id of the container, which may no longer exist' }),
    container_name: Type.String(),
    connection_id: Type.String(),
    state: Type.Union([Type.Literal('recording'), Type.Literal('ended'), Type.Literal('truncated')]),
    cols: Type.Integer(),
    rows: Type.Integer(),
    size_bytes: Type.Integer(),
    duration_ms: Type.Integer(),
    started_at: Timestamp,
    ended_at: Nullable(Timestamp),
    replica: Type.String(),
  }),
);

export const RecordingPage = Named(
  'RecordingPage',
  Type.Object({
    recordings: Type.Array(RecordingBody),
    next_cursor: Nullable(Type.String()),
  }),
);

export const DeletedRecordingBody = Named(
  'RecordingDeleted',
  Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
);

export type RecordingBody = Static<typeof RecordingBody>;
export type RecordingPage = Static<typeof RecordingPage>;
