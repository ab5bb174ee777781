/** The cost of one request with few and with many containers in the database. The caller has ten in both. */
import pg from 'pg';
import { administrator } from '../load.ts';
import type { Row } from '../report/rows.ts';
import { type Server, startServer } from '../servers.ts';
import { emptyDatabase } from '../whole-service.ts';
import { ratesOf } from './turns.ts';

const [FEW, MANY] = [100, 100_000];
const OF_CALLER = 10;
const OF_EACH_OTHER = 90;
const US_PER_SECOND = 1e6;

/** Time on the clock at full load, which includes the work of PostgreSQL. */
export async function databaseSizeRows(rounds: number): Promise<readonly Row[]> {
  const opened: (() => Promise<void>)[] = [];
  try {
    const few = await aServiceWith(FEW, opened);
    const many = await aServiceWith(MANY, opened);
    const rates = await ratesOf(
      { listFew: few.list, listMany: many.list, getFew: few.get, getMany: many.get },
      rounds,
    );
    const row = (request: string, fewRate: number, manyRate: number): Row => ({
      what: `${request}, ${MANY} containers in the database (base: ${FEW}), µs each`,
      values: { base: US_PER_SECOND / fewRate, berth: US_PER_SECOND / manyRate },
      digits: 0,
      targets: [{ of: 'base', atMost: 1.1 }],
    });
    return [
      row('GET /api/containers', rates.listFew, rates.listMany),
      row('GET /api/containers/:id', rates.getFew, rates.getMany),
    ];
  } finally {
    for (const stop of opened.toReversed()) await stop();
  }
}

async function aServiceWith(containers: number, opened: (() => Promise<void>)[]) {
  const database = await emptyDatabase();
  opened.push(database.stop);
  const service: Server = await startServer('service-server.ts', [database.url]);
  opened.push(service.stop);
  const admin = await administrator(service.address, service.setupCode);
  const { id } = await admin.call<{ id: string }>('GET', '/api/me');
  const own = await fill(database.url, id, containers);
  const headers = { authorization: `Bearer ${admin.token}` };
  const list = `${service.address}/api/containers`;
  return { list: { url: list, headers }, get: { url: `${list}/${own}`, headers } };
}

/** Makes rows only; returns the id of one of the caller's containers. */
async function fill(url: string, caller: string, containers: number): Promise<string> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    const others = Math.ceil((containers - OF_CALLER) / OF_EACH_OTHER);
    await db.query(USERS, [others]);
    await db.query(CONTAINERS_OF_OTHERS, [containers - OF_CALLER, others]);
    const { rows } = await db.query<{ db_id: string }>(CONTAINERS_OF_ONE, [OF_CALLER, caller]);
    await db.query('analyze');
    return rows[0]?.db_id ?? '';
  } finally {
    await db.end();
  }
}

const USERS = `
  insert into users (email, username, tier)
  select 'other-' || n || '@example.org', 'other-' || n, 'free' from generate_series(1, $1::int) n`;

const COLUMNS = `db_id, owner_id, name, image_key, image, shell, role, memory_mb, cpu_millicores, disk_mb,
  state, node, runtime_id, volume, created_at`;
/** Of a row with `db_id`, `owner_id` and `n`. */
const VALUES = `db_id, owner_id, 'box-' || n, 'debian', 'berth/debian:12', '/bin/bash', 'standard', 512, 1000, 512,
  'stopped', 'local', md5(db_id::text) || md5(n::text), 'ws-' || db_id, now() - n * interval '1 second'`;

const CONTAINERS_OF_OTHERS = `
  with owners as (select id, row_number() over (order by username) - 1 as at from users where username like 'other-%'),
  new as (
    select gen_random_uuid() as db_id, owners.id as owner_id, n
    from generate_series(1, $1::int) n join owners on owners.at = n % $2::int
  )
  insert into containers (${COLUMNS}) select ${VALUES} from new`;

const CONTAINERS_OF_ONE = `
  with new as (select gen_random_uuid() as db_id, $2::uuid as owner_id, n from generate_series(1, $1::int) n)
  insert into containers (${COLUMNS}) select ${VALUES} from new returning db_id`;
