/** A database with many users and running containers, whose containers a stand-in engine has. */
import { createHash, randomBytes } from 'node:crypto';
import path from 'node:path';
import pg from 'pg';
import { openDatabase, openPool } from '../../../../src/adapters/postgres/connection/database.ts';
import { migrate } from '../../../../src/adapters/postgres/migrate.ts';
import { postgresStorage } from '../../../../src/adapters/postgres/storage.ts';
import type { Storage } from '../../../../src/ports/storage.ts';

const AT_ONCE = 8;

export type Person = { readonly token: string; readonly dbIds: readonly string[] };

/** Returns the users, each with an API token. */
export async function seed(url: string, users: number, containers: number): Promise<readonly Person[]> {
  const db = openDatabase(openPool({ url }));
  try {
    await migrate(db, path.resolve(import.meta.dirname, '../../../../db/migrations'));
    const storage = postgresStorage(db);
    await storage.repositories.settings.change({ requestsPerMinute: 0, socketsPerAddress: 1_000_000 });
    const tokens = new Map<string, string>();
    const left = Array.from({ length: users }, (_, n) => `user-${n}`).values();
    const work = async (): Promise<void> => {
      for (const name of left) {
        const [userId, token] = await aPerson(storage, name);
        tokens.set(userId, token);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    await run(url, containersFor(Math.ceil(containers / users)));
    await run(url, 'vacuum analyze');
    const { rows } = await run(
      url,
      'select owner_id, array_agg(db_id::text) as ids from containers group by 1',
    );
    return rows.map(({ owner_id, ids }) => ({ token: tokens.get(owner_id) ?? '', dbIds: ids }));
  } finally {
    await db.destroy();
  }
}

/** Of each user. */
const containersFor = (each: number): string => `
  insert into containers (db_id, owner_id, name, image_key, image, shell, role, memory_mb, cpu_millicores, disk_mb,
    env, state, node, runtime_id, volume, started_at)
  select id, owner, 'box-' || n, 'debian', 'berth/debian:12', '/bin/bash', 'standard', 512, 500, 1024,
    '{"EDITOR": "vi"}', 'running', 'local', encode(sha256(id::text::bytea), 'hex'), 'ws-' || id, now()
  from (select gen_random_uuid() as id, users.id as owner, n from users, generate_series(1, ${each}) n) made`;

async function aPerson(
  { repositories }: Storage,
  username: string,
): Promise<[userId: string, token: string]> {
  const made = await repositories.users.insert({
    email: `${username}@example.org`,
    username,
    passwordHash: 'none',
    role: 'user',
    tier: 'enterprise',
    guestUntil: null,
    endsAt: null,
  });
  if ('taken' in made) throw new Error(`${made.taken} is taken`);
  const userId = made.user.id;
  const token = `svc_${randomBytes(32).toString('hex')}`;
  const limits = { parentId: null, depth: 0, containers: null, maxUses: null, usesLeft: null };
  await repositories.tokens.insert({
    ...limits,
    userId,
    name: 'bench',
    prefix: token.slice(0, 12),
    scopes: ['read', 'write'],
    hash: createHash('sha256').update(token).digest(),
    lifeMs: null,
    notAfter: null,
  });
  return [userId, token];
}

/** Bytes of a table with its indexes, and its rows. */
export async function sizeOf(url: string, table: string): Promise<{ bytes: number; rows: number }> {
  const text = `select pg_total_relation_size('${table}')::int as bytes, count(*)::int as rows from ${table}`;
  const { rows } = await run(url, text);
  return rows[0];
}

export async function run(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return await client.query(text).finally(() => client.end());
}
