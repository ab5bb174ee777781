import { randomUUID } from 'node:crypto';
import t from 'tap';
import { UnknownPage } from '../../src/ports/page.ts';
import type { Storage } from '../../src/ports/repositories.ts';
import { NOBODY, storedUser } from '../support/stored.ts';

/** What keeping recordings must guarantee. `advance` lets time pass, as far as that is possible. */
export async function recordingRepositoryContract(
  name: string,
  storage: Storage,
  advance: (ms: number) => Promise<void>,
): Promise<void> {
  const { recordings } = storage.repositories;
  const aRecording = (userId: string, over: { containerId?: string; replica?: string } = {}) => ({
    id: randomUUID(),
    userId,
    containerId: randomUUID(),
    containerName: 'dev “🚢”',
    connectionId: 'main',
    cols: 80,
    rows: 24,
    replica: randomUUID(),
    ...over,
  });
  const begun = async (userId: string, over: Parameters<typeof aRecording>[1] = {}) => {
    const made = await recordings.insert(aRecording(userId, over));
    await advance(2);
    return made;
  };
  const first = { after: null, limit: 50 };

  await t.test(`${name}: a recording goes on until it is ended, once`, async (t) => {
    const { id: ada } = await storedUser(storage);
    const { id: eve } = await storedUser(storage);
    const asked = aRecording(ada);
    const fresh = { state: 'recording', sizeBytes: 0, durationMs: 0, endedAt: null } as const;
    const made = await recordings.insert(asked);
    t.match(made, { ...asked, ...fresh, startedAt: Date });
    t.same(await recordings.find(asked.id, ada), made);
    t.same(await recordings.goingIn(asked.containerId), [made]);
    t.same(await recordings.goingIn(NOBODY), []);
    t.equal(await recordings.find(asked.id, eve), null, 'another sees nothing');
    t.equal(await recordings.find(NOBODY, ada), null);

    // More than 32 bits hold.
    const far = { sizeBytes: 5_000_000_000, durationMs: 6_000_000_000 };
    t.ok(await recordings.progress(asked.id, ada, far));
    t.match(await recordings.find(asked.id, ada), { ...far, state: 'recording' });
    t.notOk(await recordings.progress(asked.id, eve, far));
    t.equal(await recordings.end(asked.id, eve, { state: 'ended', ...far }), null);

    const end = { state: 'truncated', sizeBytes: 7, durationMs: 8 } as const;
    const ended = await Promise.all([recordings.end(asked.id, ada, end), recordings.end(asked.id, ada, end)]);
    t.equal(ended.filter((one) => one !== null).length, 1, 'by one of two');
    t.match(ended.find((one) => one !== null) ?? null, { ...end, endedAt: Date });
    t.notOk(await recordings.progress(asked.id, ada, far), 'and then it has ended');
    t.match(await recordings.find(asked.id, ada), end);
    t.same(await recordings.goingIn(asked.containerId), []);
  });

  await t.test(`${name}: the newest come first, page by page, of one container or of all`, async (t) => {
    const { id: ada } = await storedUser(storage);
    const box = randomUUID();
    const one = await begun(ada, { containerId: box });
    const two = await begun(ada);
    const three = await begun(ada, { containerId: box });
    await begun((await storedUser(storage)).id, { containerId: box });
    const ids = async (container: string | null, request = first) =>
      (await recordings.page(ada, container, request)).items.map(({ id }) => id);
    t.same(await ids(null), [three.id, two.id, one.id]);
    t.same(await ids(box), [three.id, one.id]);
    t.same(await ids(NOBODY), []);
    const part = await recordings.page(ada, null, { after: null, limit: 2 });
    t.equal(part.items.length, 2);
    t.same(await ids(null, { after: part.next, limit: 2 } as never), [one.id]);
    t.equal((await recordings.page(ada, null, { after: part.next, limit: 2 })).next, null);
    await t.rejects(recordings.page(ada, null, { after: 'nonsense', limit: 2 }), UnknownPage);
  });

  await t.test(`${name}: what a user's recordings hold is summed up, and goes with them`, async (t) => {
    const { id: ada } = await storedUser(storage);
    t.equal(await recordings.usedBytes(ada), 0);
    const [one, two] = [await begun(ada), await begun(ada)];
    t.equal(await recordings.usedBytes(ada), 8_192, 'one with nothing in it is a file as well');
    await recordings.progress(one.id, ada, { sizeBytes: 3_000_000_000, durationMs: 1 });
    await recordings.end(two.id, ada, { state: 'ended', sizeBytes: 2_000_000_000, durationMs: 1 });
    t.equal(await recordings.usedBytes(ada), 5_000_000_000);
    t.equal(await recordings.remove(one.id, NOBODY), null);
    t.match(await recordings.remove(one.id, ada), { id: one.id });
    t.equal(await recordings.remove(one.id, ada), null);
    t.equal(await recordings.usedBytes(ada), 2_000_000_000);
    t.same(await recordings.known([one.id, two.id]), new Set([two.id]));
    t.same(await recordings.known([]), new Set());
  });

  await t.test(`${name}: those of a process that is silent are found`, async (t) => {
    const { id: ada } = await storedUser(storage);
    const [silent, lively, ended] = [await begun(ada), await begun(ada), await begun(ada)];
    const facts = { sizeBytes: 1, durationMs: 1 };
    await advance(90_000);
    await recordings.progress(lively.id, ada, facts);
    await recordings.end(ended.id, ada, { state: 'ended', ...facts });
    const found = async (seconds: number, replica: string | null) =>
      (await recordings.silent(seconds, replica)).filter(({ userId }) => userId === ada).map(({ id }) => id);
    t.same(await found(60, null), [silent.id]);
    t.same(await found(60, silent.replica), [silent.id]);
    t.same(await found(60, lively.replica), []);
    t.same(await found(0, lively.replica), [lively.id], 'at once when it is known to be gone');
  });
}
