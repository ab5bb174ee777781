import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { inTransaction } from '../../../src/adapters/postgres/connection/transaction.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { postgresTerminalLeases } from '../../../src/adapters/postgres/terminals/terminal-lease-repository.ts';
import { freshDatabase } from '../../support/database/database.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';

const url = await freshDatabase(t);

if (url !== null) {
  await t.test('only the commit of a lease does not wait for the disk', async (t) => {
    const db = openDatabase(openPool({ url, poolSize: 1 }));
    t.teardown(() => db.destroy());
    const storage = postgresStorage(db);
    const { id } = await storedUser(storage);
    const { dbId, runtimeId } = await storedContainer(storage, id);
    const lease = { dbId, runtimeId: runtimeId ?? '', muxSession: 'main', replica: randomUUID() };
    await sql`set synchronous_commit = on`.execute(db);
    const setting = async (at: typeof db) => (await sql`show synchronous_commit`.execute(at)).rows;
    const inside = await inTransaction(db, async (tx) => {
      const before = await setting(tx);
      await postgresTerminalLeases(tx).put({ ...lease, streamId: randomUUID(), runId: randomUUID() });
      return [before, await setting(tx)];
    });
    t.match(inside, [[{ synchronous_commit: 'on' }], [{ synchronous_commit: 'off' }]]);
    await postgresTerminalLeases(db).put({ ...lease, streamId: randomUUID(), runId: randomUUID() });
    t.match(await setting(db), [{ synchronous_commit: 'on' }], 'what follows waits again');
  });
}
