import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';
import type { NewTerminalLease } from '../../../src/ports/terminals/terminal-lease-repository.ts';
import type { NewTerminalRecord } from '../../../src/ports/terminals/terminal-record-repository.ts';
import { recordOf, storedContainer, storedUser } from '../../support/database/stored.ts';
import { anOperation } from '../containers/operations.ts';

/** Guarantees of terminal records, and of requests to close one. `silence` ages one as if not pinged for this long. */
export async function terminalRecordsContract(
  name: string,
  storage: Storage,
  silence: (id: string, seconds: number) => Promise<void>,
): Promise<void> {
  const { terminals, terminalCloseRequests: requests, containers, operations } = storage.repositories;
  const aUserWithContainer = async () => {
    const user = await storedUser(storage);
    return { user, container: await storedContainer(storage, user.id) };
  };
  const aRecord = async (over: Partial<NewTerminalRecord> = {}): Promise<NewTerminalRecord> => {
    const { user, container } = await aUserWithContainer();
    return recordOf(user, container, over);
  };
  const listed = async (id: string) => (await terminals.list()).find((one) => one.id === id);

  await t.test(`${name}: a terminal's record exists from insert to remove, with its names`, async (t) => {
    const { user, container } = await aUserWithContainer();
    const record = recordOf(user, container, { muxSession: null, connectionId: 'pane', owner: false });
    const createdAt = await terminals.insert(record);
    const found = await listed(record.id);
    const names = { username: user.username, containerName: container.name };
    t.match(found, { ...record, ...names, createdAt, lastPingAt: Date });
    t.match(await terminals.find(record.id), { ...record, createdAt });
    await terminals.remove([record.id]);
    t.same([await listed(record.id), await terminals.find(record.id)], [undefined, null]);
    await terminals.remove([record.id]);
  });

  await t.test(`${name}: a ping is stored, and restores a swept record`, async (t) => {
    const [one, two] = [await aRecord(), await aRecord()];
    const createdAt = await terminals.insert(one);
    const before = new Date(createdAt.getTime() - 5_000);
    await silence(one.id, 60);
    const silent = await listed(one.id);
    await terminals.ping([
      { ...one, createdAt },
      { ...two, createdAt: before },
    ]);
    const [first, second] = [await listed(one.id), await listed(two.id)];
    t.ok((first?.lastPingAt.getTime() ?? 0) > (silent?.lastPingAt.getTime() ?? 0));
    t.match(second, { ...two, createdAt: before });
    await terminals.ping([]);
    await terminals.remove([one.id, two.id]);
  });

  await t.test(`${name}: a resize changes only the size`, async (t) => {
    const record = await aRecord();
    await terminals.insert(record);
    const gone = { id: randomUUID(), cols: 1, rows: 1 };
    await terminals.resize([{ id: record.id, cols: 132, rows: 50 }, gone]);
    t.match(await terminals.find(record.id), { ...record, cols: 132, rows: 50 });
    t.equal(await terminals.find(gone.id), null);
    await terminals.resize([]);
    await terminals.remove([record.id]);
  });

  await t.test(`${name}: a record silent for over 75 s is skipped, and swept`, async (t) => {
    const [silent, lively] = [await aRecord(), await aRecord()];
    await terminals.insert(silent);
    await terminals.insert(lively);
    await silence(silent.id, 76);
    await silence(lively.id, 70);
    t.same([await listed(silent.id), await terminals.find(silent.id)], [undefined, null]);
    t.same(await terminals.newest([silent.key]), []);
    t.equal((await listed(lively.id))?.id, lively.id);
    await terminals.sweep();
    await silence(silent.id, 0);
    t.equal(await listed(silent.id), undefined);
    await terminals.remove([lively.id]);
  });

  await t.test(`${name}: an earlier run's records are removed`, async (t) => {
    const [own, other] = [await aRecord(), await aRecord()];
    await terminals.insert(own);
    await terminals.insert(other);
    await terminals.removeAllOf(own.replica);
    t.same([(await listed(own.id))?.id, (await listed(other.id))?.id], [undefined, other.id]);
    await terminals.remove([other.id]);
  });

  await t.test(`${name}: the newest of each key`, async (t) => {
    const { user, container } = await aUserWithContainer();
    const [first, second] = [recordOf(user, container), recordOf(user, container)];
    const other = recordOf(user, container, { key: `${container.runtimeId}:${user.id}:pane` });
    const at = await terminals.insert(first);
    await terminals.ping([{ ...second, createdAt: new Date(at.getTime() + 1_000) }]);
    await terminals.insert(other);
    const newest = await terminals.newest([first.key, other.key, 'x:y:z']);
    t.same(newest.map(({ id }) => id).sort(), [second.id, other.id].sort());
    t.same(await terminals.newest([]), []);
    await terminals.remove([first.id, second.id, other.id]);
  });

  await t.test(`${name}: the containers' present states are read`, async (t) => {
    const { container } = await aUserWithContainer();
    const { dbId, runtimeId } = container;
    const now = () => terminals.containerStatuses([dbId, randomUUID()]);
    t.same(await now(), [{ dbId, state: 'running', runtimeId, operation: null }]);
    const [owner, userId] = [randomUUID(), container.ownerId];
    const [past, present] = [anOperation(dbId, userId, owner), anOperation(dbId, userId, owner)];
    await operations.begin({ ...past, kind: 'start' }, 60);
    t.match(await now(), [{ operation: 'start' }]);
    await operations.finish(past.id, owner, 'done');
    t.match(await now(), [{ operation: null }], 'what is over is none');
    await operations.begin({ ...present, kind: 'stop' }, 60);
    t.match(await now(), [{ operation: 'stop' }], 'and does not stand beside another one');
    t.equal((await now()).length, 1);
    await operations.finish(present.id, owner, 'done');
    await containers.changeState(dbId, ['running'], { state: 'deleted' });
    t.same(await now(), [{ dbId, state: 'deleted', runtimeId, operation: null }]);
    t.same(await terminals.containerStatuses([]), []);
  });

  await t.test(`${name}: of all that ask to close a terminal, one learns that it did`, async (t) => {
    const record = await aRecord();
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

/** Guarantees of terminal leases. `silence` ages a run's last renewal. */
export async function terminalLeasesContract(
  name: string,
  storage: Storage,
  silence: (run: string, seconds: number) => Promise<void>,
): Promise<void> {
  const { terminalLeases: leases } = storage.repositories;
  const aLease = async (over: Partial<NewTerminalLease> = {}): Promise<NewTerminalLease> => {
    const { id } = await storedUser(storage);
    const { dbId, runtimeId } = await storedContainer(storage, id);
    return {
      streamId: randomUUID(),
      dbId,
      runtimeId: runtimeId ?? '',
      muxSession: 'pane-x',
      replica: randomUUID(),
      runId: randomUUID(),
      ...over,
    };
  };

  await t.test(`${name}: a lease exists from put to remove`, async (t) => {
    const lease = await aLease();
    await leases.renew(lease.runId);
    await leases.put(lease);
    const { dbId, ...rest } = lease;
    const [found, ...more] = await leases.inContainer(dbId);
    t.match(found, rest);
    t.ok(found !== undefined && found.silentSeconds < 60 && !found.isEnding);
    t.same(more, []);
    for (const stream of [lease.streamId, randomUUID()]) await leases.markEnding(stream);
    t.match(await leases.inContainer(dbId), [{ ...rest, isEnding: true }]);
    await leases.remove([lease.streamId, randomUUID()]);
    t.same(await leases.inContainer(dbId), []);
    await leases.remove([]);
  });

  await t.test(`${name}: a session's first lease differs from a later one`, async (t) => {
    const first = await aLease();
    const later = { ...first, streamId: randomUUID(), runId: randomUUID() };
    const others = [
      { ...first, streamId: randomUUID(), muxSession: 'pane-y' },
      { ...first, streamId: randomUUID(), runtimeId: 'made-anew' },
      await aLease(),
    ];
    t.equal(await leases.put(first), true);
    t.equal(await leases.put(later), false);
    for (const other of others) t.equal(await leases.put(other), true);
    await leases.remove([first, later, ...others].map(({ streamId }) => streamId));
    t.equal(await leases.put(first), true);
    await leases.remove([first.streamId]);
  });

  await t.test(`${name}: a run's silence is measured, infinite without any renewal`, async (t) => {
    const lease = await aLease();
    await leases.put(lease);
    const silent = async () => (await leases.inContainer(lease.dbId))[0]?.silentSeconds;
    t.equal(await silent(), Number.POSITIVE_INFINITY);
    await leases.renew(lease.runId);
    await silence(lease.runId, 100);
    t.ok(Math.abs(((await silent()) ?? 0) - 100) < 20);
    await leases.renew(lease.runId);
    t.ok(((await silent()) ?? 100) < 20);
    await leases.remove([lease.streamId]);
  });

  await t.test(`${name}: a run lives until it is silent for as long as asked`, async (t) => {
    const [lively, silent] = [randomUUID(), randomUUID()];
    for (const run of [lively, silent]) await leases.renew(run);
    await silence(silent, 80);
    const runs = await leases.liveRuns(75);
    t.same([runs.includes(lively), runs.includes(silent)], [true, false]);
    t.ok((await leases.liveRuns(90)).includes(silent));
  });

  await t.test(`${name}: orphaned leases are found`, async (t) => {
    const me = { replica: randomUUID(), runId: randomUUID() };
    const [mine, lost, earlier, alive, dead, unheard] = [
      await aLease(me),
      await aLease(me),
      await aLease({ replica: me.replica }),
      await aLease(),
      await aLease(),
      await aLease(),
    ];
    const all = [mine, lost, earlier, alive, dead, unheard];
    for (const lease of all) await leases.put(lease);
    for (const lease of [mine, earlier, alive, dead]) await leases.renew(lease.runId);
    await silence(dead.runId, 80);
    const found = await leases.unattended({ ...me, streamIds: [mine.streamId] }, 75);
    const left = [lost, earlier, dead, unheard].map(({ dbId }) => dbId);
    t.same(found.filter((id) => all.some((one) => one.dbId === id)).sort(), left.sort());
    const none = await leases.unattended({ ...me, streamIds: [] }, 75);
    t.ok(none.includes(mine.dbId), 'and its own, when it has none');
    await leases.remove(all.map(({ streamId }) => streamId));
  });
}
