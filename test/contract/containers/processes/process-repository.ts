import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ProcessState } from '../../../../src/domain/containers/processes/process.ts';
import { KEPT_HOURS, MAX_ENDED } from '../../../../src/ports/containers/processes/process-repository.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { NOBODY, storedContainer, storedUser } from '../../../support/database/stored.ts';

const HOUR_MS = 3_600_000;

/** Guarantees of the records of processes. `now` is the storage's clock. */
export async function processRepositoryContract(
  name: string,
  storage: Storage,
  now: () => Promise<Date>,
): Promise<void> {
  const { processes } = storage.repositories;
  const aBox = async () => {
    const { id: userId } = await storedUser(storage);
    const { dbId } = await storedContainer(storage, userId);
    return { userId, dbId };
  };
  const begun = async ({ userId, dbId }: { userId: string; dbId: string }, label = 'web') =>
    await processes.insert({
      id: randomUUID(),
      dbId,
      userId,
      runtimeId: 'f'.repeat(64),
      name: label,
      command: ['echo', 'héllo "🚢"'],
      takesInput: true,
      terminal: { cols: 80, rows: 24 },
    });
  const end = async (hoursAgo = 0): Promise<ProcessState> => ({
    kind: 'ended',
    pid: 7,
    by: 'exit',
    exitCode: 3,
    endedAt: new Date((await now()).getTime() - hoursAgo * HOUR_MS),
  });

  await t.test(`${name}: a process is recorded, and changes its state once`, async (t) => {
    const box = await aBox();
    const made = await begun(box);
    t.match(made, { ...box, name: 'web', command: ['echo', 'héllo "🚢"'], state: { kind: 'starting' } });
    t.same(await processes.find(made.id, box.dbId), made);
    t.equal(await processes.find(made.id, NOBODY), null, 'not as a process of another container');
    t.ok(await processes.advance(made.id, 'starting', { kind: 'running', pid: 9 }));
    t.notOk(await processes.advance(made.id, 'starting', { kind: 'running', pid: 8 }));
    t.match(await processes.find(made.id, box.dbId), { state: { kind: 'running', pid: 9 } });
    await processes.resize(made.id, { cols: 132, rows: 43 });
    t.match(await processes.find(made.id, box.dbId), { terminal: { cols: 132, rows: 43 } });
    const ended = await end();
    const both = [processes.advance(made.id, 'running', ended), processes.advance(made.id, 'running', ended)];
    t.same((await Promise.all(both)).sort(), [false, true]);
    t.same((await processes.find(made.id, box.dbId))?.state, ended);
  });

  await t.test(`${name}: those that have not ended are counted by container and user`, async (t) => {
    const box = await aBox();
    const other = { ...box, dbId: (await storedContainer(storage, box.userId)).dbId };
    t.same(await processes.count(box.dbId, box.userId), { ofContainer: 0, ofUser: 0 });
    const [one, two] = [await begun(box, 'one'), await begun(box), await begun(other)];
    t.same(await processes.count(box.dbId, box.userId), { ofContainer: 2, ofUser: 3 });
    t.ok(await processes.hasNamed(box.dbId, 'one'));
    t.notOk(await processes.hasNamed(other.dbId, 'one'));
    const isBusy = async (dbId: string) =>
      (await processes.busyContainers()).filter((busy) => busy.dbId === dbId);
    t.same(await isBusy(box.dbId), [{ dbId: box.dbId, ownerId: box.userId }], 'once, for two processes');
    await processes.advance(one.id, 'starting', await end());
    t.same(await processes.count(box.dbId, box.userId), { ofContainer: 1, ofUser: 2 });
    t.notOk(await processes.hasNamed(box.dbId, 'one'));
    t.equal((await isBusy(box.dbId)).length, 1);
    await processes.advance(two.id, 'starting', await end());
    t.same(await isBusy(box.dbId), []);
    t.equal((await isBusy(other.dbId)).length, 1);
  });

  await t.test(`${name}: ended ones are kept for a day, the last hundred`, async (t) => {
    const box = await aBox();
    const shown = async () => (await processes.list(box.dbId)).map(({ name }) => name);
    const [old, recent] = [await begun(box, 'old'), await begun(box, 'recent')];
    await begun(box, 'active');
    t.same(await shown(), ['active', 'recent', 'old']);
    await processes.advance(old.id, 'starting', await end(KEPT_HOURS + 1));
    await processes.advance(recent.id, 'starting', await end(KEPT_HOURS - 1));
    t.same(await shown(), ['active', 'recent']);
    await processes.forget();
    t.equal(await processes.find(old.id, box.dbId), null);
    for (let n = 0; n < MAX_ENDED; n += 1) {
      const { id } = await begun(box, `later-${n}`);
      await processes.advance(id, 'starting', await end());
    }
    t.equal((await shown()).length, MAX_ENDED + 1);
    t.notOk((await shown()).includes('recent'));
    await processes.forget();
    t.equal(await processes.find(recent.id, box.dbId), null);
    t.equal((await shown()).length, MAX_ENDED + 1);
  });
}
