import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { ANSWER_WITHIN_MS, type Connection, type ConnectionLog, keepConnected } from '../kept-connection.ts';
import type { ConnectionEvents, LineConnection } from '../message-line.ts';
import type { Db } from './schema/database-schema.ts';

const CHANNEL = 'berth';
/** Every process holds this lock shared, so that the database shows which processes run. */
const PRESENCE_LOCK = 1_650_815_080;
const HANG_UP_MS = 500;

/** Listens on a connection of its own. */
export async function openListener(
  url: string,
  { onPayload, onLost }: ConnectionEvents,
): Promise<LineConnection> {
  const client = await openPresent(url, onLost, `listen ${CHANNEL}`);
  client.on('notification', ({ payload }) => onPayload(payload ?? ''));
  return {
    ...connectionOf(client),
    send: (payloads) =>
      client.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [CHANNEL, payloads]),
  };
}

/** For a process that listens elsewhere: it too is found by `presentFrom`. */
export function keepPresence(url: string, log: ConnectionLog): { close(): Promise<void> } {
  return keepConnected({
    open: async (onLost) => connectionOf(await openPresent(url, onLost)),
    onOpen: () => undefined,
    log,
    words: {
      failed: 'cannot note in the database that this process runs',
      lost: 'the connection that notes this process in the database was lost',
      over: 'this process is noted in the database again',
    },
  });
}

async function openPresent(url: string, onLost: () => void, first = 'select 1'): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'berth bus',
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
  });
  // An error is always followed by `end`.
  client.on('error', () => undefined);
  client.on('end', onLost);
  try {
    await client.connect();
    await client.query(`${first}; select pg_advisory_lock_shared(${PRESENCE_LOCK})`);
    return client;
  } catch (error) {
    await hangUp(client);
    throw error;
  }
}

const connectionOf = (client: pg.Client): Connection => ({
  ask: () => client.query('select 1'),
  hangUp: () => hangUp(client),
});

/** A peer that does not answer is not awaited. */
async function hangUp(client: pg.Client): Promise<void> {
  await Promise.race([client.end().catch(() => undefined), delay(HANG_UP_MS, null, { ref: false })]);
}

/** The addresses that processes on this database connect from; null for those by a local socket. */
export async function presentFrom(db: Db): Promise<readonly (string | null)[]> {
  const { rows } = await sql<{ readonly address: string | null }>`
    select distinct host(client_addr) as address
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and objid = ${PRESENCE_LOCK} and objsubid = 1 and classid = 0
      and datname = current_database()
    order by address`.execute(db);
  return rows.map(({ address }) => address);
}

/**
 * Runs `work` in a transaction during which no process of the service can connect. Returns whether it ran: not while
 * one is connected.
 */
export const whileNoneRuns = (db: Db, work: (tx: Db) => Promise<void>): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ readonly locked: boolean }>`
      select pg_try_advisory_xact_lock(${PRESENCE_LOCK}) as locked`.execute(tx);
    if (rows[0]?.locked !== true) return false;
    await work(tx);
    return true;
  });
