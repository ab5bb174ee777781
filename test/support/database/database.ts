import pg from 'pg';
import type { Test } from 'tap';
import { needs } from '../run/needs.ts';

let made = 0;

/**
 * A database of its own with every migration applied, dropped when `t` ends: its address, or null when the test was
 * skipped because there is no PostgreSQL here.
 */
export async function freshDatabase(t: Test): Promise<string | null> {
  const postgres = await needs(t, 'postgres');
  if (postgres === null) return null;
  made += 1;
  const name = `t_${process.pid}_${made}`;
  const url = await copyTemplate(postgres.url, name);
  t.teardown(() => drop(postgres.url, name));
  return url;
}

/** Makes a database of that name with every migration applied, on the server of the run; answers its URL. */
export async function copyTemplate(server: string, name: string): Promise<string> {
  await run(server, `create database ${name} template template_berth`);
  const url = server.replace('/postgres?', `/${name}?`);
  // Copies of the template must not take each other's containers for their own.
  await run(url, 'update installation set id = gen_random_uuid()');
  return url;
}

/** Connections that are just being closed are waited for: force would be an error in their owner's hands. */
async function drop(url: string, name: string): Promise<void> {
  await run(url, `drop database ${name}`).catch(() =>
    run(url, `drop database if exists ${name} with (force)`),
  );
}

/** One statement by itself. */
export async function run(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** What is asked of a database through a pool, from now on; it may be emptied. */
export function statementsOf(pool: pg.Pool): string[] {
  const statements: string[] = [];
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    const noted = (...given: unknown[]): unknown => {
      const [first] = given;
      statements.push(
        typeof first === 'string' ? first : String((first as { text?: string } | undefined)?.text),
      );
      return query(...given);
    };
    Object.assign(client, { query: noted });
  });
  return statements;
}
