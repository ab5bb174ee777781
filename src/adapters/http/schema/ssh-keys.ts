import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Text, Timestamp } from './common.ts';
import { listQuery, nextCursor } from './pagination.ts';

export const SshKeyRequest = Named(
  'SshKeyRequest',
  Closed({
    public_key: Text({ maxLength: 16_384 }),
    name: Type.Optional(Text({ maxLength: 400 })),
  }),
);

export const SshKeyBody = Named(
  'SshKey',
  Type.Object({
    id: Type.String(),
    name: Type.String(),
    type: Type.String(),
    public_key: Type.String(),
    fingerprint: Type.String({ description: 'SHA256:… as ssh-keygen -l prints it' }),
    created_at: Timestamp,
  }),
);

export const SshKeyList = Named(
  'SshKeyList',
  Type.Object({ ssh_keys: Type.Array(SshKeyBody), next_cursor: nextCursor }),
);

export const DeletedSshKeyBody = Named(
  'SshKeyDeleted',
  Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
);

export const SshKeyListQuery = listQuery(['created_at', 'name'], ['name', 'type', 'fingerprint']);

export type SshKeyBody = Static<typeof SshKeyBody>;
