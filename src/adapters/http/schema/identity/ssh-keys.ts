import { type Static, Type } from '@sinclair/typebox';
import { Closed, Named, Nullable, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

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
    last_used_at: Nullable(Timestamp),
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

export const SshKeyListQuery = listQuery(
  ['created_at', 'name', 'last_used_at'],
  ['name', 'type', 'fingerprint'],
);

export const SshHostKeysBody = Named(
  'SshHostKeys',
  Type.Object({
    host: Type.String({ description: 'the name to connect to' }),
    port: Nullable(Type.Integer({ description: 'null: SSH works over HTTPS alone' })),
    keys: Type.Array(
      Named(
        'SshHostKey',
        Type.Object({
          type: Type.String(),
          public_key: Type.String(),
          fingerprint: Type.String({ description: 'SHA256:… as ssh shows it at the first connection' }),
          known_hosts_line: Type.String(),
        }),
      ),
    ),
  }),
);

export type SshHostKeysBody = Static<typeof SshHostKeysBody>;
export type SshKeyBody = Static<typeof SshKeyBody>;
