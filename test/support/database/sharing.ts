import { randomUUID } from 'node:crypto';
import type { CollaborationMode } from '../../../src/domain/terminals/collaboration.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { hashOf, recordOf, storedContainer, storedUser } from './stored.ts';

export type Scene = Awaited<ReturnType<typeof aSharedContainer>>;

/** Ada shares her container; Bob and Eve may join. */
export async function aSharedContainer(storage: Storage, mode: CollaborationMode = 'view') {
  const { collaborations, terminals } = storage.repositories;
  const [ada, bob, eve] = [await storedUser(storage), await storedUser(storage), await storedUser(storage)];
  const container = await storedContainer(storage, ada.id);
  const share = (of: CollaborationMode, code: string = randomUUID()) =>
    collaborations.insert({
      id: randomUUID(),
      dbId: container.dbId,
      ownerId: ada.id,
      mode: of,
      codeHash: hashOf(code),
      minutes: 60,
    });
  const code = randomUUID();
  const first = await share(mode, code);
  const part = (id: string, userId: string) => ({ collaborationId: id, userId });
  const ref = { kind: 'db_id', dbId: container.dbId } as const;
  const open = (userId: string) => terminals.insert(recordOf({ id: userId }, container));
  return { ada, bob, eve, container, ref, code, first, share, part, open };
}

export type EndOfShare = readonly [how: string, end: (scene: Scene) => Promise<unknown>];

/** Each way in which a collaboration ends. `age` lets its time pass. */
export const endsOfShare = (
  { repositories: { collaborations, containers, users } }: Storage,
  age: (id: string) => Promise<void>,
): readonly EndOfShare[] => [
  ['the end', ({ first }) => collaborations.end(first.id)],
  ['the time', ({ first }) => age(first.id)],
  ['the loss of the account', ({ ada }) => users.change(ada.id, { disabled: true })],
  [
    'the delete',
    ({ container }) => containers.changeState(container.dbId, ['running'], { state: 'deleted' }),
  ],
];
