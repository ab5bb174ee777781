import type { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { argon2Hasher } from '../../src/adapters/security/password-hasher.ts';
import { HASHES_PER_USER } from '../../src/app/identity/limits/hashing-queue.ts';
import type { PasswordHasher } from '../../src/ports/identity/password-hasher.ts';
import { waitFor } from '../support/patience.ts';
import { actions, aServiceInTime, from } from '../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, aService, as, person } from '../support/service/service.ts';
import { listenOnUnix, unreadConnection } from '../support/service/streams.ts';
import { aContainerOf } from '../support/terminal/terminals.ts';
import { standingTime } from '../support/time.ts';

const MIB = 1_048_576;

/** This process's memory after a garbage collection, in MiB. */
function heldMib(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MIB;
}

const USERS = 8;
const COMMANDS = 8;
/** 64 answers of 6 MiB would be 384; the limit is 32 of 2 MiB besides the commands' own memory. */
const MOST_MIB = 250;

t.test('unread command answers neither fill the memory nor delay another user', async (t) => {
  const service = await aService();
  const socketPath = await listenOnUnix(t, service);
  const bob = await aPerson(service, 'bob');
  const create = { name: 'dev', disk_mb: 512 };
  const box = (await as(service, bob)('POST', '/api/containers', create)).json();
  const requests: string[] = [];
  for (let user = 0; user < USERS; user += 1) {
    const eve = await aPerson(service, `eve${user}`);
    const { db_id: id } = (await as(service, eve)('POST', '/api/containers', create)).json();
    const body = JSON.stringify({ command: ['head', '-c', '1048576', '/dev/zero'] });
    const lines = [
      `POST /api/containers/${id}/exec HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${eve.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    requests.push(`${lines.join('\r\n')}\r\n\r\n${body}`);
  }
  const accepted: Socket[] = [];
  service.http.server.on('connection', (socket: Socket) => accepted.push(socket));
  const before = heldMib();
  for (let n = 0; n < USERS * COMMANDS; n += 1)
    await unreadConnection(t, socketPath, requests[n % USERS] ?? '');
  const answering = (): number => accepted.filter((socket) => socket.writableLength > 0).length;
  await waitFor(() => answering() >= USERS * 4, { what: 'every user has its share of answers' });
  const neighbour = as(service, bob);
  const { stdout } = (
    await neighbour('POST', `/api/containers/${box.db_id}/exec`, { command: ['echo', 'here'] })
  ).json();
  t.equal(stdout, 'here\n', 'a neighbour is answered meanwhile');
  t.equal(answering(), USERS * 4, 'four answers of each user are kept, and no more');
  const grown = heldMib() - before;
  t.ok(grown < MOST_MIB, `${Math.round(grown)} MiB more than before`);
});

const CONNECTIONS = 100;
const PIPELINED = 8;
/** An answer is half a megabyte: one on each stays below the 64 MiB of all, eight would be 400 MB. */
const MOST_OF_PIPELINES_MIB = 80;

const ask = 'GET /api/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';

t.test(
  'a pipelining connection that reads nothing occupies one answer, and other users are served',
  async (t) => {
    const time = standingTime(t);
    const service = await aService();
    const socketPath = await listenOnUnix(t, service);
    const ada = await aPerson(service, 'ada');
    const accepted: Socket[] = [];
    service.http.server.on('connection', (socket: Socket) => accepted.push(socket));
    const before = heldMib();
    for (let n = 0; n < CONNECTIONS; n += 1) await unreadConnection(t, socketPath, ask.repeat(PIPELINED));
    const waiting = (): number => accepted.filter((socket) => socket.writableLength > 0).length;
    await waitFor(() => waiting() === CONNECTIONS, { what: 'every connection has an answer' });
    t.equal((await as(service, ada)('GET', '/api/me')).statusCode, 200, 'a neighbour is answered meanwhile');
    const grown = heldMib() - before;
    t.ok(grown < MOST_OF_PIPELINES_MIB, `${Math.round(grown)} MiB more than before`);
    t.notOk(accepted.some(({ destroyed }) => destroyed));
    const greedy = await unreadConnection(t, socketPath, ask.repeat(PIPELINED * 4));
    greedy.resume();
    await waitFor(() => greedy.destroyed, { what: 'one that pipelines more is closed' });
    time.pass(50_000);
    t.notOk(accepted.slice(0, CONNECTIONS).some(({ destroyed }) => destroyed));
    time.pass(15_000);
    t.same(
      accepted.flatMap(({ destroyed, bytesWritten, writableLength }, at) =>
        destroyed ? [] : [{ at, bytesWritten, writableLength }],
      ),
      [],
      'all that read nothing for a minute are closed',
    );
  },
);

const TIMES = 300;

type Record = { action: string; user_id: string; username: string; ip_address: string; details: string };

/** Eve, whose token has no limit, as if she had many. */
async function scene() {
  const service = await aServiceInTime();
  const root = as(service, await anAdmin(service));
  const eve = await aPerson(service, 'eve');
  const box = await aContainerOf(service, eve);
  const token = await anApiToken(service, eve, { scopes: ['read', 'write'] });
  await root('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
  return { service, root, eve, box, token };
}

t.test('hundreds of commands of a stolen token make two records that name it', async (t) => {
  const { service, root, eve, box, token } = await scene();
  const call = as(service, token);
  const statuses = new Set<number>();
  for (let n = 0; n < TIMES; n += 1) {
    const answer = await call('POST', `/api/containers/${box}/exec`, { command: ['true', `${n}`] });
    statuses.add(answer.statusCode);
  }
  t.same([...statuses], [200]);
  t.equal(actions(service).filter((action) => action === 'command_run').length, 1);
  service.clock.advance(60_000);
  await service.writeDue();
  const { records } = (await root('GET', '/api/admin/audit?action=command_run')).json();
  t.equal(records.length, 2);
  const [rest, first] = records.map((one: Record) => ({ ...one, details: JSON.parse(one.details) }));
  const about = {
    container_id: box,
    token_prefix: token.token.slice(0, 12),
    token_name: 'ci',
    command: 'true',
  };
  t.match(first, { user_id: eve.id, username: 'eve', ip_address: '127.0.0.1', details: about });
  t.same(rest.details, { ...about, times: TIMES - 1 });
});

t.test('hundreds of changes and failures of one session make few records', async (t) => {
  const { service, eve } = await scene();
  const call = as(service, eve);
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  const before = actions(service).length;
  const current_passcode = '1234';
  for (let n = 0; n < TIMES / 3; n += 1) {
    await call('PUT', '/api/me/lock', { passcode: '1234', current_passcode });
    await call('PATCH', '/api/me', { auto_lock_minutes: 1 + (n % 60) });
    await call('POST', '/api/me/password', { old_password: 'a guess', new_password: 'another good one' });
  }
  const made = actions(service).slice(before);
  t.ok(made.length <= 70, `${made.length} records of ${TIMES} requests`);
  t.same([...new Set(made)].sort(), ['confirmation_failed', 'passcode_changed', 'user_updated']);
});

const HASHED_TIMES = 200;

/** The real hasher; `hashed` records its calls. A verification waits for `before`. */
async function counted(
  before: (password: string) => Promise<void> = async () => {},
): Promise<{ hasher: PasswordHasher; hashed: string[] }> {
  const { hash, verify } = await argon2Hasher();
  const hashed: string[] = [];
  const hasher: PasswordHasher = {
    hash: (password) => {
      hashed.push(password);
      return hash(password);
    },
    verify: async (stored, password) => {
      hashed.push(password);
      await before(password);
      return verify(stored, password);
    },
  };
  return { hasher, hashed };
}

t.test('a sign-in passes while another user hashes passwords constantly', async (t) => {
  const gate = Promise.withResolvers<void>();
  const isGuess = (one: string): boolean => one.startsWith('guess');
  const { hasher, hashed } = await counted((one) => (isGuess(one) ? gate.promise : Promise.resolve()));
  const service = await aService({ hasher });
  const eve = await aPerson(service, 'eve');
  await aPerson(service, 'ada');
  const call = as(service, eve);
  const attack = Array.from({ length: HASHED_TIMES }, (_, n) =>
    call('POST', '/api/me/password', { old_password: `guess ${n}`, new_password: `a new one ${n}` }),
  );
  await waitFor(() => hashed.some(isGuess));
  const { email, password } = person('ada');
  const signedIn = await from(service, { ip: '198.51.100.9' })('/api/auth/login', { email, password });
  t.equal(signedIn.statusCode, 200);
  t.equal(hashed.filter(isGuess).length, 1, 'the others wait for the first one');
  gate.resolve();
  const answers = await Promise.all(attack);
  const statuses = new Set(answers.map(({ statusCode }) => statusCode));
  t.same([...statuses].sort(), [403, 429]);
  const all = hashed.filter(isGuess).length;
  t.ok(all <= 5 + 1, `${all} of ${HASHED_TIMES} guesses were hashed`);
});

t.test('hashes are limited per minute even without guessing', async (t) => {
  const { hasher, hashed } = await counted();
  const service = await aService({ hasher });
  const eve = await aPerson(service, 'eve');
  const call = as(service, eve);
  await call('PUT', '/api/me/lock', { passcode: 'first' });
  const attack = Array.from({ length: HASHED_TIMES }, () =>
    call('PUT', '/api/me/lock', { passcode: 'first', current_passcode: 'first' }),
  );
  const answers = await Promise.all(attack);
  const done = answers.filter(({ statusCode }) => statusCode === 200).length;
  t.ok(done < HASHES_PER_USER, `${done} were done`);
  t.ok(hashed.length <= 2 * HASHES_PER_USER + 2, `${hashed.length} were hashed`);
});
