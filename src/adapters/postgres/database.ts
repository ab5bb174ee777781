import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { StorageUnavailable } from '../../ports/repositories.ts';
import type { Database } from './schema.ts';

export type DatabaseOptions = {
  readonly url: string;
  readonly poolSize?: number;
  /** An idle connection was lost; the pool replaces it. */
  readonly onIdleError?: (error: Error) => void;
};

// SQLSTATE classes and system errors that say "no answer", as opposed to "the answer is no".
const NO_ANSWER =
  /^(08...|57P0[1-3]|53[0-9A-Z]{3}|25P03|ECONN.*|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)$/;
const NO_ANSWER_WORDS =
  /timeout exceeded when trying to connect|Connection terminated|not queryable|Client was closed/;

/** Whether the fault is that the database could not be reached, rather than what it said. */
export function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && NO_ANSWER.test(code)) || NO_ANSWER_WORDS.test(error.message);
}

const translate = (error: unknown): never => {
  throw isNoAnswer(error) ? new StorageUnavailable('the database does not answer', { cause: error }) : error;
};

class TranslatingClient extends pg.Client {
  // pg declares eight overloads; all of them end here.
  override query = ((...args: unknown[]) => {
    const sent = (pg.Client.prototype.query as (...a: unknown[]) => unknown).apply(this, args);
    return sent instanceof Promise ? sent.catch(translate) : sent;
  }) as pg.Client['query'];
}

/** A pool that gives up soon and says so: every wait on the database is bounded (R94). */
export function openPool(options: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: 2_000,
    statement_timeout: 5_000,
    lock_timeout: 3_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: 'berth',
    Client: TranslatingClient,
  });
  // Without a listener, a lost idle connection ends the process.
  pool.on('error', (error) => options.onIdleError?.(error));
  return pool;
}

export const openDatabase = (pool: pg.Pool): Kysely<Database> =>
  new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => pool.connect().catch(translate), end: () => pool.end() },
    }),
  });
