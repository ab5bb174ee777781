import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, Text, Timestamp } from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

export const SshKeyRequest = NamedClosed('SshKeyRequest', {
  public_key: Text({ maxLength: 16_384 }),
  name: Type.Optional(Text({ maxLength: 400 })),
});

export const SshKeyBody = NamedObject('SshKey', {
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  public_key: Type.String(),
  fingerprint: Type.String({ description: 'SHA256:… as ssh-keygen -l prints it' }),
  created_at: Timestamp,
  last_used_at: Nullable(Timestamp),
});

export const SshKeyList = NamedObject('SshKeyList', {
  ssh_keys: Type.Array(SshKeyBody),
  next_cursor: nextCursor,
});

export const DeletedSshKeyBody = NamedObject('SshKeyDeleted', {
  id: Type.String(),
  deleted: Type.Literal(true),
});

export const SshKeyListQuery = listQuery(
  ['created_at', 'name', 'last_used_at'],
  ['name', 'type', 'fingerprint'],
);

export const SshHostKeysBody = NamedObject('SshHostKeys', {
  host: Type.String({ description: 'the name to connect to' }),
  port: Nullable(Type.Integer({ description: 'null: SSH works over HTTPS alone' })),
  keys: Type.Array(
    NamedObject('SshHostKey', {
      type: Type.String(),
      public_key: Type.String(),
      fingerprint: Type.String({ description: 'SHA256:… as ssh shows it at the first connection' }),
      known_hosts_line: Type.String(),
    }),
  ),
});

export type SshHostKeysBody = Static<typeof SshHostKeysBody>;
export type SshKeyBody = Static<typeof SshKeyBody>;
