import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { StorageBusy, StorageUnavailable } from '../../ports/repositories.ts';
import type { Database } from './schema.ts';

export type DatabaseOptions = {
  readonly url: string;
  readonly poolSize?: number;
  /** How long the server may work on a statement; 0 for no limit. */
  readonly statementWithinMs?: number;
  /** How long a statement may stay without an answer; 0 for no limit. */
  readonly answerWithinMs?: number;
  /** An idle connection was lost; the pool replaces it. */
  readonly onIdleError?: (error: Error) => void;
};

// SQLSTATE classes and system errors that say "no answer", as opposed to "the answer is no". 40P01, 40001, 55P03 and
// 57014 are of a wait that was given up: what was asked may be right, and can be asked again.
const NO_ANSWER =
  /^(08...|57P0[1-3]|53[0-9A-Z]{3}|25P03|40P01|40001|55P03|57014|ECONN.*|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH)$/;
const SILENCE = 'Query read timeout';
/** The pool's own words for one that waited for a connection. */
const POOL_IS_FULL = 'timeout exceeded when trying to connect';
const NO_ANSWER_WORDS =
  /Query read timeout|timeout exceeded when trying to connect|Connection terminated|not queryable|Client was closed/;

/** Whether the fault is that the database could not be reached or gave up waiting, rather than what it said. */
export function isNoAnswer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return (typeof code === 'string' && NO_ANSWER.test(code)) || NO_ANSWER_WORDS.test(error.message);
}

function translate(error: unknown): never {
  if (error instanceof Error && error.message === POOL_IS_FULL)
    throw new StorageBusy('no connection to the database was free in time', { cause: error });
  throw isNoAnswer(error) ? new StorageUnavailable('the database does not answer', { cause: error }) : error;
}

class TranslatingClient extends pg.Client {
  constructor(...options: ConstructorParameters<typeof pg.Client>) {
    super(...options);
    // The pool listens while a client is idle. One that is lost at work fails its statement, and must not end the process.
    this.on('error', () => {});
  }

  // pg declares eight overloads; all of them end here.
  override query = ((...args: unknown[]) => {
    const sent = (pg.Client.prototype.query as (...a: unknown[]) => unknown).apply(this, args);
    return sent instanceof Promise ? sent.catch((error) => this.#failed(error)) : sent;
  }) as pg.Client['query'];

  /** What follows on a line that is silent would wait behind the statement that nobody answers. */
  #failed(error: unknown): never {
    if (error instanceof Error && error.message === SILENCE) this.connection.stream.destroy();
    return translate(error);
  }
}

/** A pool that gives up soon and says so: every wait on the database is bounded (R94). */
export function openPool(options: DatabaseOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: 2_000,
    statement_timeout: options.statementWithinMs ?? 5_000,
    query_timeout: options.answerWithinMs ?? 7_000,
    lock_timeout: 3_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: 'berth',
    Client: TranslatingClient,
  });
  // Without a listener, a lost idle connection ends the process. The pool hangs the whole client on its error.
  pool.on('error', (error) => options.onIdleError?.(new Error(error.message)));
  return pool;
}

export const openDatabase = (pool: pg.Pool): Kysely<Database> =>
  new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => pool.connect().catch(translate), end: () => pool.end() },
    }),
  });
