import { Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, Text } from '../common.ts';
import { proofs } from '../identity/people/fields.ts';
import { ContainerBody } from './containers.ts';

export const AdminContainerParams = Type.Object({
  id: Type.String({ description: 'The `db_id`.' }),
});

export const AdminContainerPage = NamedObject('AdminContainerPage', {
  containers: Type.Array(ContainerBody),
  next_cursor: Nullable(Type.String()),
  total: Type.Integer({ description: 'The number of containers on all pages.' }),
});

/** `password` or `code` confirm it. */
export const AdminDeletionRequest = NamedClosed('AdminContainerDeletionRequest', proofs);

/** `password` or `code` confirm it. */
export const TransferRequest = NamedClosed('ContainerTransferRequest', {
  to: Text({ maxLength: 64 }),
  name: Type.Optional(Type.String({ description: 'Its name from now on. Absent: unchanged.' })),
  ...proofs,
});
