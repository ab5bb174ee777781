import pg from 'pg';
import t from 'tap';
import { spoilsConnection, whyUnavailable } from '../../../src/adapters/postgres/database-unavailable.ts';

/** What the server says, as the driver hands it on. */
function said(sqlState: string): Error {
  const error = new pg.DatabaseError('said by the server', 0, 'error');
  error.code = sqlState;
  return error;
}

const failed = (message: string, code?: string): Error => Object.assign(new Error(message), { code });

t.test('what the server says of its own state is no answer to the request', async (t) => {
  const moods = [
    ...['08000', '08003', '08006', '08P01', '25006', '25P03', '25P04', '28000', '28P01', '3D000', '40001'],
    ...['40003', '40P01', '53000', '53100', '53200', '53300', '53400', '55006', '55P03', '57014', '57P01'],
    ...['57P02', '57P03', '57P04', '57P05', '58030', '72000'],
  ];
  for (const sqlState of moods) t.type(whyUnavailable(said(sqlState)), 'string', sqlState);
});

t.test('what it says of the statement is', async (t) => {
  const answers = ['23505', '23503', '22P02', '42601', '42P01', '42501', '25P02', '22003', 'P0001', 'XX000'];
  for (const sqlState of answers) t.equal(whyUnavailable(said(sqlState)), null, sqlState);
  t.equal(whyUnavailable(new Error('a fault of ours')), null);
  t.equal(whyUnavailable('no error'), null);
});

t.test('a line that fails is no answer either', async (t) => {
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])
    t.type(whyUnavailable(failed('connect', code)), 'string', code);
  for (const words of [
    'Query read timeout',
    'Connection terminated unexpectedly',
    'Client was closed and is not queryable',
  ])
    t.type(whyUnavailable(failed(words)), 'string', words);
});

t.test('a connection that is silent, or takes no writes, is not used again', async (t) => {
  t.ok(spoilsConnection(said('25006')));
  t.ok(spoilsConnection(failed('Query read timeout')));
  t.notOk(spoilsConnection(said('55P03')), 'one that waited for a lock is');
});
