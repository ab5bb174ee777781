import t from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { freshDatabase, run, statementsOf } from '../../support/database/database.ts';
import { storedUser } from '../../support/database/stored.ts';

const url = await freshDatabase(t);
/** Of which each statement reads a page of 2,000. */
const PAGES = 2;

const insert = (ownerId: string, state: string, count: number): string => `
  insert into containers (db_id, owner_id, name, image_key, image, shell, role, memory_mb, cpu_millicores, disk_mb, env,
    state, node, volume)
  select id, '${ownerId}', '${state}-' || n, 'debian', 'berth/debian:12', '/bin/bash', 'standard', 512, 500, 1024, '{}',
    '${state}', 'local', 'ws-' || id
  from (select gen_random_uuid() as id, n from generate_series(1, ${count}) n) made`;

if (url !== null)
  t.test('a list of all containers reads a page at a time, and each container once', async (t) => {
    const pool = openPool({ url });
    const statements = statementsOf(pool);
    const db = openDatabase(pool);
    t.teardown(() => db.destroy());
    const storage = postgresStorage(db);
    const { id } = await storedUser(storage);
    await run(url, insert(id, 'deleted', 100));
    const listed = async (): Promise<readonly string[]> => {
      statements.splice(0);
      return (await storage.repositories.containers.listAllLive()).map(({ dbId }) => dbId);
    };
    t.same(await listed(), []);
    await run(url, insert(id, 'running', 2_000 * PAGES));
    const all = await listed();
    t.same([all.length, new Set(all).size], [2_000 * PAGES, 2_000 * PAGES]);
    t.equal(statements.length, PAGES + 1, 'the last one finds that there are no more');

    await run(url, "update containers set idle_seconds = 60, created_at = now() - interval '1 hour'");
    statements.splice(0);
    const ending = await storage.repositories.lifetimes.listEnding(0);
    t.same(ending.map(({ container }) => container.dbId).toSorted(), all.toSorted());
    t.equal(statements.length, PAGES + 1);
  });
