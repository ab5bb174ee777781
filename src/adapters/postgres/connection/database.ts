import { setImmediate } from 'node:timers/promises';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { StorageBusy, StorageTooSlow, StorageUnavailable } from '../../../ports/storage.ts';
import type { Database } from '../schema/database-schema.ts';
import {
  isAborted,
  isPoolFull,
  isStalePlan,
  isTooSlow,
  SILENCE,
  spoilsConnection,
  whyUnavailable,
} from './database-unavailable.ts';
import { isWorthWaiting, loopLoss, withinLoopTime } from './event-loop-time.ts';
import { preparedStatement } from './prepared-statements.ts';

export type DatabaseOptions = {
  readonly url: string;
  readonly poolSize?: number;
  /** Overrides of WAITS, in milliseconds. */
  readonly waits?: Partial<typeof WAITS>;
  /** The server's time limit for a statement; 0 for none. */
  readonly statementWithinMs?: number;
  /** Our time limit for an answer; 0 for none. */
  readonly answerWithinMs?: number;
  /** An idle connection was lost; the pool replaces it. */
  readonly onIdleError?: (error: Error) => void;
};

/**
 * Time limits of all waits on the database. A silent one keeps a request waiting for a statement or a connection, at
 * most 5 s in all: `silenceMs` exceeds the server's own limit, so that a live server can report first. Time in which
 * our event loop stood still does not count.
 */
export const WAITS = { connectMs: 2_000, lockMs: 3_000, statementMs: 4_000, silenceMs: 4_300 };

function translate(error: unknown): never {
  if (isPoolFull(error))
    throw new StorageBusy('no connection to the database was free in time', { cause: error });
  if (isTooSlow(error)) throw new StorageTooSlow('the statement took too long', { cause: error });
  const why = whyUnavailable(error);
  throw why === null
    ? error
    : new StorageUnavailable(`the database cannot serve now: ${why}`, { cause: error });
}

const BEGIN = 'begin';
const ENDS: readonly unknown[] = ['commit', 'rollback'];

/** The connection was refused, so nothing was sent. */
function notConnected(error: unknown): never {
  if (isPoolFull(error)) return translate(error);
  throw new StorageUnavailable('the database accepts no connections now', { cause: error });
}

class TranslatingClient extends pg.Client {
  readonly #silenceMs: number;
  #inTransaction = false;
  /** Why the server refuses the rest of the transaction. */
  #abortedBy: unknown = null;
  /** Settles when all statements sent so far are answered. Never rejects. */
  #answered: Promise<unknown> = Promise.resolve();
  /** Until a migration changes the result of one. */
  #prepares = true;

  constructor(options: pg.ClientConfig & { readonly silenceMs?: number } = {}) {
    super(options);
    this.#silenceMs = options.silenceMs ?? 0;
    // The pool listens only while a client is idle. A busy one that is lost fails its statement, and must not end the
    // process.
    this.on('error', () => {});
  }

  // pg declares eight overloads; all end here.
  override query = ((...args: unknown[]) => {
    const prepared = this.#prepares ? preparedStatement(args) : null;
    const sent = this.#sent(prepared ?? args);
    if (!(sent instanceof Promise)) return sent;
    const [statement] = args;
    if (statement === BEGIN) this.#abortedBy = null;
    if (statement === BEGIN || ENDS.includes(statement)) this.#inTransaction = statement === BEGIN;
    const isAlone = !this.#inTransaction;
    const answer = this.#inTime(sent.catch((error) => this.#rethrowOriginal(error)))
      .catch((error) => this.#withoutPlan(error, isAlone ? args : null))
      .catch((error) => this.#failed(error));
    return statement === BEGIN ? this.#begun(answer) : answer;
  }) as pg.Client['query'];

  /**
   * After an error, PostgreSQL rejects the remaining statements of the transaction with 25P02. A caller that awaits
   * several may see 25P02 first, so the original error replaces it.
   */
  #rethrowOriginal(error: unknown): never {
    if (isAborted(error) && this.#abortedBy !== null) throw this.#abortedBy;
    this.#abortedBy = error;
    throw error;
  }

  /** A failed transaction can only be repeated as a whole. */
  async #withoutPlan(error: unknown, args: readonly unknown[] | null): Promise<unknown> {
    if (!isStalePlan(error)) throw error;
    this.#prepares = false;
    if (args === null) throw error;
    return await this.#inTime(this.#sent(args));
  }

  #sent(args: readonly unknown[]): unknown {
    return (pg.Client.prototype.query as (...a: unknown[]) => unknown).apply(this, [...args]);
  }

  /** The first statement is sent together with it. A `begin` fails only with its connection, which is then closed. */
  #begun(answer: Promise<unknown>): Promise<object> {
    answer.catch(() => this.connection.stream.destroy());
    return Promise.resolve({ command: 'BEGIN', rowCount: null, rows: [] });
  }

  /** The time of a statement starts with the answer to the one before, for which the server has its own limit. */
  async #inTime(answer: unknown): Promise<unknown> {
    if (this.#silenceMs === 0) return await answer;
    const before = this.#answered;
    this.#answered = Promise.allSettled([before, answer]);
    await before;
    return await withinLoopTime(Promise.resolve(answer), this.#silenceMs, () => {
      throw new Error(SILENCE);
    });
  }

  /** On a silent connection, later statements would wait behind the unanswered one. */
  #failed(error: unknown): never {
    if (spoilsConnection(error)) this.connection.stream.destroy();
    return translate(error);
  }
}

/** A pool with short time limits and clear errors. */
export function openPool(options: DatabaseOptions): pg.Pool {
  const waits = { ...WAITS, ...options.waits };
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.poolSize ?? 10,
    connectionTimeoutMillis: waits.connectMs,
    statement_timeout: options.statementWithinMs ?? waits.statementMs,
    lock_timeout: waits.lockMs,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: 'berth',
    Client: TranslatingClient,
    // The pool passes all its options to its clients. Statements that do not wait for each other share a round trip.
    ...{ pipeline: true, silenceMs: options.answerWithinMs ?? waits.silenceMs },
  });
  // Without a listener, a lost idle connection ends the process. The pool attaches the client to the error, so only the
  // message is passed on. A closed pool does not wait for its connections: a server that stops next may still end them.
  pool.on('error', (error) => {
    if (!pool.ending) options.onIdleError?.(new Error(error.message));
  });
  return pool;
}

export const openDatabase = (pool: pg.Pool): Kysely<Database> =>
  new Kysely<Database>({
    dialect: new PostgresDialect({
      pool: { options: {}, connect: () => connect(pool).catch(notConnected), end: () => pool.end() },
    }),
  });

/** Retries once if this process had no time: the connection may have been available. */
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const loss = loopLoss();
  try {
    return await pool.connect();
  } catch (error) {
    if (!isWorthWaiting(loss())) throw error;
    await setImmediate();
    return await pool.connect();
  }
}
