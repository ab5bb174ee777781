import { randomUUID } from 'node:crypto';
import { on, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import type { Logger } from '../../ports/logger.ts';
import type { Db } from './schema/database-schema.ts';

const CHANNEL = 'berth';
/** Shared by the listening processes of a database, so that its server knows them. Nobody takes it alone. */
const PRESENCE_LOCK = 1_650_815_080;
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** A silently lost connection is noticed after the sum of these two. */
const HEARTBEAT_MS = 2_000;
const ANSWER_WITHIN_MS = 3_000;

export type ListenerEvents = {
  /** It listens, for the first time or again; earlier messages may be lost. */
  readonly onConnect: () => void;
  readonly onPayload: (payload: string) => void;
};

export type Listener = {
  readonly connected: boolean;
  /** Sends all in one statement; rejects when that is impossible now. */
  notify(payloads: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

/** A dedicated connection that listens for the life of the process and reconnects by itself. */
export function listen(url: string, log: Logger, events: ListenerEvents): Listener {
  const closing = new AbortController();
  let current: pg.Client | null = null;

  async function keepListening(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      const client = await opened(url).catch((error: unknown) => {
        log.warn({ err: error }, 'cannot listen for messages from other processes');
        return null;
      });
      if (client !== null) {
        failures = 0;
        await serve(client);
      }
      await pause(failures);
    }
  }

  async function serve(client: pg.Client): Promise<void> {
    const lost = once(client, 'end', { signal: closing.signal }).catch(() => undefined);
    current = client;
    events.onConnect();
    // Only now: what arrives before `onConnect` counts as lost, and no later message overtakes it.
    client.on('notification', ({ payload }) => events.onPayload(payload ?? ''));
    const beat = setInterval(() => void client.query('select 1').catch(() => hangUp(client)), HEARTBEAT_MS);
    await lost;
    clearInterval(beat);
    current = null;
    await hangUp(client);
    if (!closing.signal.aborted) log.warn('the connection to other processes was lost');
  }

  async function pause(failures: number): Promise<void> {
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
    await delay(longest * (0.5 + Math.random() / 2), null, { signal: closing.signal }).catch(() => undefined);
  }

  const running = keepListening();
  return {
    get connected() {
      return current !== null;
    },
    async notify(payloads) {
      if (current === null) throw new Error('not connected');
      await current.query('select pg_notify($1, payload) from unnest($2::text[]) as payload', [
        CHANNEL,
        payloads,
      ]);
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}

async function opened(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'berth bus',
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
  });
  // An error is always followed by `end`, which is awaited.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(`listen ${CHANNEL}; select pg_advisory_lock_shared(${PRESENCE_LOCK})`);
    await hearItself(client);
    return client;
  } catch (error) {
    await hangUp(client);
    throw error;
  }
}

/** Behind a pooler that shares connections LISTEN succeeds, but nothing arrives: detect that now. */
async function hearItself(client: pg.Client): Promise<void> {
  const word = JSON.stringify({ probe: randomUUID() });
  const tooLate = new AbortController();
  const heard = (async () => {
    for await (const [message] of on(client, 'notification', { signal: tooLate.signal })) {
      if ((message as pg.Notification).payload === word) return;
    }
  })();
  const timer = setTimeout(() => tooLate.abort(), ANSWER_WITHIN_MS);
  try {
    await Promise.all([heard, client.query('select pg_notify($1, $2)', [CHANNEL, word])]);
  } catch (error) {
    if (!tooLate.signal.aborted) throw error;
    throw new Error('no messages arrive: connect to the database directly, not through a pooler');
  } finally {
    clearTimeout(timer);
    tooLate.abort();
  }
}

/** A peer that does not answer is not awaited. */
async function hangUp(client: pg.Client): Promise<void> {
  await Promise.race([client.end().catch(() => undefined), delay(500, null, { ref: false })]);
}

/** The addresses that listening processes of this database connect from; null for those by a local socket. */
export async function listeningFrom(db: Db): Promise<readonly (string | null)[]> {
  const { rows } = await sql<{ readonly address: string | null }>`
    select distinct host(client_addr) as address
    from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and objid = ${PRESENCE_LOCK} and objsubid = 1 and classid = 0
      and datname = current_database()
    order by address`.execute(db);
  return rows.map(({ address }) => address);
}
