import pino from 'pino';
import type { Test } from 'tap';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { waitFor } from '../patience.ts';
import { aCluster } from '../service/cluster.ts';
import type { endless } from '../service/streams.ts';
import { freshDatabase, statementsOf } from './database.ts';

const silent = pino({ level: 'silent' });

/** Two processes on one real database, each with a line of its own; `statements` is what both asked of it. */
export async function onPostgres(t: Test, ports: ReturnType<typeof endless>['ports'] | object = {}) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const pool = openPool({ url, poolSize: 10 });
  const statements = statementsOf(pool);
  const buses: ReturnType<typeof postgresBus>[] = [];
  const bus = () => {
    const made = postgresBus(url, silent);
    buses.push(made);
    return made;
  };
  const db = openDatabase(pool);
  const clock = { now: () => new Date() };
  const cluster = await aCluster(t, { storage: postgresStorage(db), clock, bus, ...ports });
  t.teardown(async () => {
    await Promise.all(buses.map((one) => one.close()));
    await db.destroy();
  });
  await waitFor(() => buses.every((one) => one.connected));
  const sql = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;
  return { ...cluster, sql, buses, statements };
}
