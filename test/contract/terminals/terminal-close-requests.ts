import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import { recordOf, storedContainer, storedUser } from '../../support/database/stored.ts';

/** Guarantees of requests to close a terminal. */
export async function terminalCloseRequestsContract(name: string, storage: Storage): Promise<void> {
  const { terminals, terminalCloseRequests: requests } = storage.repositories;

  await t.test(`${name}: of all who ask to close a terminal one is told that it did`, async (t) => {
    const user = await storedUser(storage);
    const record = recordOf(user, await storedContainer(storage, user.id));
    await terminals.insert(record);
    t.same(await requests.listFor(record.replica), []);
    const asked = await Promise.all([1, 2, 3].map(() => requests.insert(record.id)));
    t.same(asked.sort(), [false, false, true]);
    t.same(await requests.listFor(record.replica), [record.id]);
    t.same(await requests.listFor(randomUUID()), []);
    await terminals.remove([record.id]);
    t.notOk(await requests.insert(record.id), 'nor is one that is gone');
  });
}
