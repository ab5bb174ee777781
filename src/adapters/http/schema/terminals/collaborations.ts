import { type Static, Type } from '@sinclair/typebox';
import { Named, NamedClosed, NamedObject, Nullable, OneOf, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

export const Mode = Named('CollaborationMode', OneOf(['view', 'control']));

export const ShareRequest = NamedClosed('ShareRequest', {
  mode: Mode,
  expires_in_minutes: Type.Optional(Type.Integer({ description: '1 to 1440. Default 60.' })),
});

export const ParticipantParams = Type.Object({ id: Type.String(), user_id: Type.String() });

export const JoinRequest = NamedClosed('JoinRequest', { code: Text({ minLength: 1, maxLength: 128 }) });

export const CollaborationBody = NamedObject('Collaboration', {
  id: Type.String(),
  container_id: Type.String({ description: 'The db_id of the container.' }),
  owner_id: Type.String(),
  mode: Mode,
  created_at: Timestamp,
  expires_at: Timestamp,
  ended_at: Nullable(Timestamp),
  participants: Type.Array(
    Type.Object({ user_id: Type.String(), username: Type.String(), joined_at: Timestamp }),
  ),
});

export const SharedBody = Named(
  'CollaborationCreated',
  Type.Composite([
    CollaborationBody,
    Type.Object({
      code: Type.String({ description: 'Shown only once.' }),
      url: Type.String({
        description: 'For a browser; the code is in the fragment, which browsers do not send.',
      }),
    }),
  ]),
);

export const JoinedBody = Named(
  'CollaborationJoined',
  Type.Composite([
    CollaborationBody,
    Type.Object({ container: Type.Object({ db_id: Type.String(), name: Type.String() }) }),
  ]),
);

export const CollaborationList = NamedObject('CollaborationList', {
  collaborations: Type.Array(CollaborationBody),
  next_cursor: nextCursor,
});

export const CollaborationListQuery = listQuery(['created_at', 'expires_at'], ['mode']);

export type CollaborationBody = Static<typeof CollaborationBody>;
export type SharedBody = Static<typeof SharedBody>;
export type JoinedBody = Static<typeof JoinedBody>;
