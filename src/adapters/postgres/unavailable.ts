import pg from 'pg';

/**
 * What the server says when it cannot serve now, by SQLSTATE or its first two digits: what was asked may be right, and
 * can be asked again. All else is an answer.
 */
const MOODS: { readonly [sqlState: string]: string } = {
  '08': 'the connection failed',
  '53': 'out of memory, disk, connections or another resource',
  '25006': 'read only: a standby after a failover, or maintenance',
  '25P03': 'a transaction was idle for too long',
  '25P04': 'a transaction took too long',
  '28000': 'the login was refused, as the settings of the server have changed',
  '28P01': 'the password was refused, as it has changed',
  '3D000': 'the database does not exist now',
  '40001': 'a transaction met another one',
  '40003': 'it is not known whether the statement was completed',
  '40P01': 'two transactions waited for each other',
  '55006': 'the database is in use by maintenance',
  '55P03': 'a lock was waited for too long',
  '57014': 'a statement took too long, or was cancelled',
  '57P01': 'an administrator has ended the connection',
  '57P02': 'another process of the server has crashed',
  '57P03': 'the server starts, stops or recovers',
  '57P04': 'the database was dropped',
  '57P05': 'the connection was idle for too long',
  '58030': 'the disk of the server failed',
  '72000': 'the snapshot of a long statement is gone',
};

/** After these the connection is of no use any more, though it is open. */
const READ_ONLY = '25006';
const TOO_SLOW = '57014';

const SYSTEM_ERRORS = /^(ECONN.*|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;
const SILENCE = 'Query read timeout';
/** The pool's own words for one that waited for a connection. */
const POOL_IS_FULL = 'timeout exceeded when trying to connect';
const CLIENT_WORDS = /Connection terminated|not queryable|Client was closed/;

const codeOf = (error: Error): string => {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : '';
};

/** Whether no connection of the pool was free in time. */
export const isPoolFull = (error: unknown): boolean =>
  error instanceof Error && error.message === POOL_IS_FULL;

/** Why the database could not serve now, in words for the log; null when the error is an answer of it. */
export function whyUnavailable(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = codeOf(error);
  const mood = MOODS[code] ?? MOODS[code.slice(0, 2)];
  if (error instanceof pg.DatabaseError) return mood ?? null;
  if (error.message === SILENCE) return 'no answer in time';
  const isLine = SYSTEM_ERRORS.test(code) || CLIENT_WORDS.test(error.message) || isPoolFull(error);
  return isLine ? 'the connection failed' : null;
}

/** Whether the server gave up a statement that took too long. A cancelled one has the same code. */
export const isTooSlow = (error: unknown): boolean => error instanceof Error && codeOf(error) === TOO_SLOW;

/** Whether a connection that has met the error is to be replaced: silent, or of a server that takes no writes. */
export const spoilsConnection = (error: unknown): boolean =>
  error instanceof Error && (error.message === SILENCE || codeOf(error) === READ_ONLY);
