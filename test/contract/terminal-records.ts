import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../src/ports/repositories.ts';
import { storedContainer, storedUser } from '../support/stored.ts';

/** What the records of terminals must guarantee. `advance` lets time pass, as far as that is possible. */
export async function terminalRecordsContract(
  name: string,
  storage: Storage,
  advance: (ms: number) => Promise<void>,
): Promise<void> {
  const { terminals } = storage.repositories;
  const aRecord = async () => {
    const { id: userId } = await storedUser(storage);
    return { id: randomUUID(), userId, containerId: (await storedContainer(storage, userId)).dbId };
  };
  const find = async (id: string) => (await terminals.list()).find((one) => one.id === id);

  await t.test(`${name}: a terminal's record is there from insert to remove`, async (t) => {
    const record = await aRecord();
    await terminals.insert(record);
    t.match(await find(record.id), { ...record, createdAt: Date, lastPingAt: Date });
    await terminals.remove(record.id);
    t.equal(await find(record.id), undefined);
    await terminals.remove(record.id);
  });

  await t.test(`${name}: a ping is noted, and brings a record back that was swept away`, async (t) => {
    const [one, two] = [await aRecord(), await aRecord()];
    await terminals.insert(one);
    await advance(20);
    await terminals.ping([one, two]);
    const [first, second] = [await find(one.id), await find(two.id)];
    t.ok((first?.lastPingAt.getTime() ?? 0) > (first?.createdAt.getTime() ?? 0));
    t.match(second, two);
    await terminals.ping([]);
    await terminals.remove(one.id);
    await terminals.remove(two.id);
  });

  await t.test(`${name}: silence removes a record`, async (t) => {
    const [silent, lively] = [await aRecord(), await aRecord()];
    await terminals.insert(silent);
    await advance(1200);
    await terminals.insert(lively);
    await terminals.sweep(1);
    t.same([(await find(silent.id))?.id, (await find(lively.id))?.id], [undefined, lively.id]);
    await terminals.remove(lively.id);
  });
}
