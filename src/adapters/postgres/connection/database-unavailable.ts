import pg from 'pg';

/**
 * SQLSTATEs, or their first two digits, that mean that the server cannot serve now and the statement can be retried.
 * Any other error is the statement's own.
 */
const MOODS: { readonly [sqlState: string]: string } = {
  '08': 'the connection failed',
  '53': 'out of memory, disk, connections or another resource',
  '25006': 'read only: a standby after a failover, or maintenance',
  '25P03': 'a transaction was idle for too long',
  '25P04': 'a transaction took too long',
  '28000': 'the server refused the login: its settings have changed',
  '28P01': 'the server refused the password: it has changed',
  '3D000': 'the database does not exist',
  '40001': 'a transaction conflicted with another one',
  '40003': 'the statement may or may not have completed',
  '40P01': 'deadlock between transactions',
  '55006': 'the database is in use by maintenance',
  '55P03': 'timed out waiting for a lock',
  '57014': 'a statement timed out or was cancelled',
  '57P01': 'an administrator has ended the connection',
  '57P02': 'another process of the server has crashed',
  '57P03': 'the server is starting, stopping or recovering',
  '57P04': 'the database was dropped',
  '57P05': 'the connection was idle for too long',
  '58030': 'disk failure on the server',
  '72000': 'the snapshot of a long statement is gone',
};

/** After these the connection is useless, although open. */
const READ_ONLY = '25006';
const TOO_SLOW = '57014';
const ABORTED = '25P02';

const SYSTEM_ERRORS = /^(ECONN.*|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
export const SILENCE = 'Query read timeout';
/** The pool's message when no connection became free in time. */
const POOL_IS_FULL = 'timeout exceeded when trying to connect';
const CLIENT_WORDS = /Connection terminated|not queryable|Client was closed/;

const codeOf = (error: Error): string => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
};

export const isPoolFull = (error: unknown): boolean =>
  error instanceof Error && error.message === POOL_IS_FULL;

/** Why the database could not serve now, for the log; null when the error is the statement's own. */
export function whyUnavailable(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = codeOf(error);
  const mood = MOODS[code] ?? MOODS[code.slice(0, 2)];
  if (isStalePlan(error)) return 'a migration has changed the tables of a prepared statement';
  if (error instanceof pg.DatabaseError) return mood ?? null;
  if (error.message === SILENCE) return 'no answer in time';
  const isLine = SYSTEM_ERRORS.test(code) || CLIENT_WORDS.test(error.message) || isPoolFull(error);
  return isLine ? 'the connection failed' : null;
}

/** Whether the server aborted a slow statement. A cancelled one has the same code. */
export const isTooSlow = (error: unknown): boolean => error instanceof Error && codeOf(error) === TOO_SLOW;

/** Whether the server refused the statement because an earlier one of its transaction had failed. */
export const isAborted = (error: unknown): boolean => error instanceof Error && codeOf(error) === ABORTED;

/** Whether a prepared statement's result has other columns than when it was prepared. It was not executed. */
export const isStalePlan = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.routine === 'RevalidateCachedQuery';

/** Whether the connection must be replaced: it is silent, or its server takes no writes. */
export const spoilsConnection = (error: unknown): boolean =>
  error instanceof Error && (error.message === SILENCE || codeOf(error) === READ_ONLY);
