import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { UnknownPage } from '../../../src/ports/pagination.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import type { RecordingFiles } from '../../../src/ports/terminals/recording-files.ts';
import { NOBODY, storedUser } from '../../support/database/stored.ts';

/** Guarantees of stored recordings. `advance` lets time pass, where possible. */
export async function recordingRepositoryContract(
  name: string,
  storage: Storage,
  advance: (ms: number) => Promise<void>,
): Promise<void> {
  const { recordings } = storage.repositories;
  const aRecording = (userId: string, over: { dbId?: string; replica?: string } = {}) => ({
    id: randomUUID(),
    userId,
    dbId: randomUUID(),
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

  await t.test(`${name}: a recording is active until it is ended, once`, async (t) => {
    const { id: ada } = await storedUser(storage);
    const { id: eve } = await storedUser(storage);
    const asked = aRecording(ada);
    const fresh = { state: 'recording', sizeBytes: 0, durationMs: 0, endedAt: null } as const;
    const made = await recordings.insert(asked);
    t.match(made, { ...asked, ...fresh, startedAt: Date });
    t.same(await recordings.find(asked.id, ada), made);
    t.same(await recordings.activeIn(asked.dbId), [made]);
    t.same(await recordings.activeIn(NOBODY), []);
    t.equal(await recordings.find(asked.id, eve), null, 'another sees nothing');
    t.equal(await recordings.find(NOBODY, ada), null);

    // More than 32 bits.
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
    t.same(await recordings.activeIn(asked.dbId), []);
  });

  await t.test(`${name}: the newest come first, by page, for some containers or all`, async (t) => {
    const { id: ada } = await storedUser(storage);
    const box = randomUUID();
    const one = await begun(ada, { dbId: box });
    const two = await begun(ada);
    const three = await begun(ada, { dbId: box });
    await begun((await storedUser(storage)).id, { dbId: box });
    const ids = async (containers: readonly string[] | null, request = first) =>
      (await recordings.page(ada, containers, request)).items.map(({ id }) => id);
    t.same(await ids(null), [three.id, two.id, one.id]);
    t.same(await ids([box]), [three.id, one.id]);
    t.same(await ids([box, two.dbId]), [three.id, two.id, one.id]);
    t.same(await ids([NOBODY]), []);
    const oldest = { after: null, limit: 2, oldestFirst: true };
    t.same(await ids(null, oldest as never), [one.id, two.id]);
    const { next } = await recordings.page(ada, null, oldest);
    t.same(await ids(null, { ...oldest, after: next } as never), [three.id]);
    const part = await recordings.page(ada, null, { after: null, limit: 2 });
    t.equal(part.items.length, 2);
    t.same(await ids(null, { after: part.next, limit: 2 } as never), [one.id]);
    t.equal((await recordings.page(ada, null, { after: part.next, limit: 2 })).next, null);
    await t.rejects(recordings.page(ada, null, { after: 'nonsense', limit: 2 }), UnknownPage);
  });

  await t.test(`${name}: a user's recordings are summed up, and deleted ones are not counted`, async (t) => {
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

  await t.test(`${name}: a silent process's recordings are found`, async (t) => {
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

const HEADER = '{"version":2,"width":80,"height":24}\n';

/** Guarantees of recording files. */
export async function recordingFilesContract(name: string, files: RecordingFiles): Promise<void> {
  const all = Number.MAX_SAFE_INTEGER;
  const textOf = async (id: string, maxBytes = all) => {
    const file = await files.read(id, maxBytes);
    if (file === null) return null;
    const bytes = await buffer(file.content);
    if (bytes.length !== file.sizeBytes)
      throw new Error(`${bytes.length} bytes instead of ${file.sizeBytes}`);
    return bytes.toString();
  };

  await t.test(`${name}: a file grows, and is read up to a limit`, async (t) => {
    const id = randomUUID();
    t.equal(await textOf(id), null);
    const file = await files.create(id);
    t.equal(await textOf(id), '');
    await file.append(HEADER);
    await file.append('[0.5,"o","héllo 🚢"]\n');
    t.equal(await textOf(id), `${HEADER}[0.5,"o","héllo 🚢"]\n`);
    t.equal(await textOf(id, HEADER.length), HEADER);
    t.equal(await textOf(id, 0), '');
    await file.close();
    t.same(await files.repair(id), {
      sizeBytes: Buffer.byteLength(`${HEADER}[0.5,"o","héllo 🚢"]\n`),
      durationMs: 500,
    });
    await files.remove(id);
    t.equal(await textOf(id), null);
    await files.remove(id);
  });

  await t.test(`${name}: half a line at the end is removed, and nothing else`, async (t) => {
    const long = `[2,"o","${'x'.repeat(3_000_000)}"]`;
    for (const [kept, lost] of [
      [HEADER, ''],
      [HEADER, '[1,"o","hé'],
      [`${HEADER}[1.25,"o","a"]\n`, '[2,"r","80x'],
      [`${HEADER}[1.25,"o","a"]\n`, long.slice(0, -1)],
      [`${HEADER}${long}\n`, '['],
      [`${HEADER}[1.25,"o","a"]\n`, '\0\0\0\0'],
      [`${HEADER}[1.25,"o","a"]\n`, '\0\0\n\0\n'],
      ['', '{"version":2,"wid'],
    ] as const) {
      const id = randomUUID();
      const file = await files.create(id);
      await file.append(kept + lost);
      await file.close();
      const facts = await files.repair(id);
      t.equal(facts?.sizeBytes, Buffer.byteLength(kept), `${kept.length} kept, ${lost.length} lost`);
      t.equal(facts?.durationMs, kept.includes(long) ? 2000 : kept.includes('1.25') ? 1250 : 0);
      t.ok((await textOf(id)) === kept);
      await files.remove(id);
    }
    t.equal(await files.repair(randomUUID()), null);
  });

  await t.test(`${name}: files are listed with the time of their last write`, async (t) => {
    const id = randomUUID();
    const file = await files.create(id);
    await file.append(HEADER);
    await file.close();
    const [listed] = (await files.list()).filter((one) => one.id === id);
    t.ok(Math.abs(Date.now() - (listed?.writtenAtMs ?? 0)) < 60_000);
    await files.remove(id);
    t.notOk((await files.list()).some((one) => one.id === id));
  });

  await t.test(`${name}: the folder has the installation that claimed it last`, async (t) => {
    t.equal(await files.owner(), null);
    for (const id of [randomUUID(), randomUUID()]) {
      await files.claim(id);
      t.equal(await files.owner(), id);
    }
  });
}
