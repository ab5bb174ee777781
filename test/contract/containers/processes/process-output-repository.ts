import { randomUUID } from 'node:crypto';
import t from 'tap';
import { MAX_STORED_BYTES } from '../../../../src/domain/containers/processes/stored-output.ts';
import { MAX_UNSTORED } from '../../../../src/ports/containers/processes/process-output-repository.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { NOBODY, storedContainer, storedUser } from '../../../support/database/stored.ts';
import { waitFor } from '../../../support/patience.ts';

const EMPTY = { firstKept: 0, data: Buffer.alloc(0) };

/** Guarantees of copies of output. */
export async function processOutputRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { processes, processOutputs } = storage.repositories;
  const aBox = async (userId: string) => {
    const { dbId, runtimeId } = await storedContainer(storage, userId);
    return { userId, dbId, runtimeId: runtimeId ?? '' };
  };
  const begun = async (box: Awaited<ReturnType<typeof aBox>>): Promise<string> => {
    const process = { ...box, id: randomUUID(), name: 'web', command: ['x'], terminal: null };
    return (await processes.insert({ ...process, takesInput: false })).id;
  };
  const aUserId = async (): Promise<string> => (await storedUser(storage)).id;

  await t.test(`${name}: a copy is replaced until it is whole`, async (t) => {
    const userId = await aUserId();
    const id = await begun(await aBox(userId));
    t.equal(await processOutputs.find(NOBODY), null);
    const store = async (text: string, isWhole: boolean) => {
      const stdout = { firstKept: 7, data: Buffer.from(text) };
      await processOutputs.store(id, userId, { stdout, stderr: EMPTY, isWhole });
      return await processOutputs.find(id);
    };
    t.match(await store('so far \0', false), { stdout: { firstKept: 7 }, isWhole: false });
    const complete = await store('whole \xff', true);
    t.equal(String(complete?.stdout.data), 'whole \xff');
    t.equal(String((await store('late', false))?.stdout.data), 'whole \xff');
  });

  await t.test(`${name}: the oldest copies of an owner lose their data`, async (t) => {
    const box = await aBox(await aUserId());
    const full = { firstKept: 0, data: Buffer.alloc(MAX_STORED_BYTES) };
    const ids: string[] = [];
    for (let count = 0; count < 34; count += 1) {
      const id = await begun(box);
      ids.push(id);
      await processOutputs.store(id, box.userId, { stdout: full, stderr: full, isWhole: true });
    }
    const kept = await Promise.all([0, 1, 2, 33].map((at) => processOutputs.find(ids[at] ?? '')));
    const sizes = kept.map((one) => one?.stdout.data.length);
    t.same(sizes, [0, 0, MAX_STORED_BYTES, MAX_STORED_BYTES]);
    t.match(kept[0], { stdout: { firstKept: MAX_STORED_BYTES }, isWhole: true }, 'and say so');
  });

  await t.test(`${name}: each owner is listed, and each process in its turn`, async (t) => {
    const [userId, otherId] = [await aUserId(), await aUserId()];
    const endedIn = async (ownerId: string, count: number) => {
      const box = await aBox(ownerId);
      const ids: string[] = [];
      for (let n = 0; n < count; n += 1) {
        const id = await begun(box);
        const state = { kind: 'ended', pid: 7, by: 'exit', exitCode: 0, endedAt: new Date() } as const;
        await processes.advance(id, 'starting', state);
        ids.push(id);
      }
      return ids;
    };
    const many = await endedIn(userId, 2 * MAX_UNSTORED + 10);
    const [late = ''] = await endedIn(otherId, 1);
    const listed = async (ownerId: string) =>
      (await processOutputs.unstored())
        .filter((one) => one.ownerId === ownerId)
        .map(({ processId }) => processId);
    t.equal((await listed(userId)).length, MAX_UNSTORED);
    t.same(await listed(otherId), [late], 'behind none of another owner');
    const seen = new Set<string>();
    await waitFor(async () => {
      for (const id of await listed(userId)) seen.add(id);
      return seen.size === many.length;
    });
    await processOutputs.store(late, otherId, { stdout: EMPTY, stderr: EMPTY, isWhole: true });
    t.same(await listed(otherId), []);
  });
}
