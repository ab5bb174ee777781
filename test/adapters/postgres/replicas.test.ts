import pino from 'pino';
import t, { type Test } from 'tap';
import { postgresBus } from '../../../src/adapters/postgres/bus.ts';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { terminalsOfBoth } from '../../contract/terminals/terminal-replicas.ts';
import { freshDatabase, statementsOf } from '../../support/database/database.ts';
import { randomName } from '../../support/database/stored.ts';
import { waitFor } from '../../support/patience.ts';
import { aCluster, aCrew } from '../../support/service/cluster.ts';
import {
  again,
  aPerson,
  as,
  refresh,
  sessionIdOf,
  sessionsOf,
  statusOf,
} from '../../support/service/service.ts';
import { eventClient } from '../../support/service/streams.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';

const silent = pino({ level: 'silent' });

/** Two processes on one real database, each with its own listener; `statements` has the queries of both. */
async function onPostgres(t: Test) {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const pool = openPool({ url, poolSize: 10 });
  const statements = statementsOf(pool);
  const buses: ReturnType<typeof postgresBus>[] = [];
  const bus = () => {
    const made = postgresBus(url, silent);
    buses.push(made);
    return made;
  };
  const db = openDatabase(pool);
  const clock = { now: () => new Date() };
  const cluster = await aCluster(t, { storage: postgresStorage(db), clock, bus });
  t.teardown(async () => {
    await Promise.all(buses.map((one) => one.close()));
    await db.destroy();
  });
  await waitFor(() => buses.every((one) => one.connected));
  const sql = async (text: string, values: unknown[] = []) => (await pool.query(text, values)).rows;
  return { ...cluster, sql, buses, statements };
}

const UNAUTHORIZED = [4001, 'unauthorized'] as const;
const ENDED = [4003, 'collaboration ended'] as const;

terminalsOfBoth(t, onPostgres);

const cluster = await onPostgres(t);
if (cluster !== null) onTwoProcesses(cluster);

function onTwoProcesses(both: NonNullable<typeof cluster>): void {
  /** A new Ada for each test. */
  const scene = async () => {
    const username = randomName();
    return { ...both, username, ...(await aCrew(both, username)) };
  };

  /** Both processes lose their listeners at once. */
  const cutLines = () =>
    both.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'berth bus' and datname = current_database()`);

  /** Ada shares her terminal with Bob and Eve. */
  async function shared(mode: 'view' | 'control') {
    const group = await scene();
    const { here, there, ada, dbId } = group;
    const [bob, eve] = [await aPerson(there, randomName()), await aPerson(there, randomName())];
    const { id, code } = (
      await as(here, ada)('POST', `/api/containers/${dbId}/collaborations`, { mode })
    ).json();
    for (const who of [bob, eve]) await as(there, who)('POST', '/api/collaborations/join', { code });
    const [addressHere, addressThere] = group.addresses;
    const open = (who: typeof ada, address: string, query = {}) =>
      terminalClient({ address, dbId, token: who.token }, query);
    return { ...group, bob, eve, id, code, open, addressHere, addressThere };
  }

  t.test("a revocation reaches the other process's sockets and requests", async (t) => {
    const cluster = await scene();
    const { here, there, ada, other, token, tokenId } = cluster;
    const [first, second] = [
      await cluster.openEverywhere(ada, 'a'),
      await cluster.openEverywhere(token, 'b'),
    ];
    const id = await sessionIdOf(here, ada);
    t.equal(await statusOf(there, ada), 200, 'and is remembered there for a moment');
    await as(here, other)('DELETE', `/api/sessions/${id}`);
    await as(here, other)('POST', `/api/tokens/${tokenId}/revoke`);
    const ends = await Promise.all([...first, ...second].map((one) => one.closed()));
    t.same(ends, [UNAUTHORIZED, UNAUTHORIZED, UNAUTHORIZED, UNAUTHORIZED]);
    t.same(
      await Promise.all([statusOf(there, ada), statusOf(there, token), statusOf(there, other)]),
      [401, 401, 200],
    );
    const records = () => cluster.sql('select id from terminal_records');
    await waitFor(async () => (await records()).length === 0, { what: 'their records go with them' });
  });

  t.test('a transfer by one process keeps the limit beside a create by the other', async (t) => {
    const { here, there, root, ada, dbId, openEverywhere, sql } = await scene();
    const bob = await aPerson(there, randomName());
    const create = (name: string) =>
      as(there, bob)('POST', '/api/containers', { name, memory_mb: 256, cpu_shares: 100, disk_mb: 512 });
    for (const name of ['a', 'b', 'c', 'd']) await create(name);
    const admin = await again(here, root, 'root');
    const transfer = () => as(here, admin)('POST', `/api/admin/containers/${dbId}/transfer`, { to: bob.id });
    const terminals = await openEverywhere(ada, 'main');
    const statuses = (await Promise.all([transfer(), create('e')])).map(({ statusCode }) => statusCode);
    t.ok(['200,409', '409,201'].includes(statuses.join()), statuses.join());
    if (statuses[0] !== 200) {
      await sql('update containers set state = $1 where owner_id = $2 and name = $3', [
        'deleted',
        bob.id,
        'e',
      ]);
      t.equal((await transfer()).statusCode, 200);
    }
    for (const terminal of terminals)
      t.equal((await terminal.closed())[0], 4009, 'also at the other process');
    const owned = 'select count(*)::int as count from containers where owner_id = $1 and state <> $2';
    t.same(await sql(owned, [bob.id, 'deleted']), [{ count: 5 }]);
    t.equal((await as(there, ada)('POST', `/api/containers/${dbId}/start`)).statusCode, 404);
    t.equal((await as(there, bob)('POST', `/api/containers/${dbId}/start`)).statusCode, 200);
  });

  t.test('a connection cut at the wrong moment delays a revocation without losing it', async (t) => {
    const cluster = await scene();
    const { here, ada, other, buses } = cluster;
    const sockets = await cluster.openEverywhere(ada, 'main');
    const id = await sessionIdOf(here, ada);
    await cutLines();
    await as(here, other)('DELETE', `/api/sessions/${id}`);
    t.same(await Promise.all(sockets.map((one) => one.closed())), [UNAUTHORIZED, UNAUTHORIZED]);
    await waitFor(() => buses.every((one) => one.connected));
  });

  t.test('of concurrent refreshes one rotates, and all get the same successor', async (t) => {
    const cluster = await scene();
    const { here, there, ada, sql } = cluster;
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => refresh(n % 2 ? here : there, ada, 'browser')),
    );
    t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
    const successors = new Set(answers.map(({ cookies }) => cookies[0]?.value));
    t.equal(successors.size, 1);
    const id = await sessionIdOf(here, ada);
    const rows = await sql('select spent_at is null as fresh from refresh_tokens where session_id = $1', [
      id,
    ]);
    t.same(rows.map(({ fresh }) => fresh).sort(), [false, true]);
  });

  t.test('revoking the others during a sign-in leaves the new session or ends it, never half', async (t) => {
    const cluster = await scene();
    const { here, there, ada } = cluster;
    const [answer, ...fresh] = await Promise.all([
      as(here, ada)('POST', '/api/sessions/revoke-others'),
      ...Array.from({ length: 4 }, () => again(there, ada, cluster.username)),
    ]);
    t.equal(answer.statusCode, 200);
    const listed = await sessionsOf(here, ada);
    t.equal(listed.length, 6);
    const active = listed.filter((session) => session['revoked_at'] === null).length;
    const working = (await Promise.all(fresh.map((one) => statusOf(here, one)))).filter(
      (status) => status === 200,
    );
    t.equal(active, working.length + 1);
    t.equal(answer.json().count, 6 - active);
  });

  t.test("another user's session costs the same queries as an unknown one", async (t) => {
    const cluster = await scene();
    const { here, ada, statements } = cluster;
    const eve = await aPerson(here, randomName());
    await here.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
    const foreign = await sessionIdOf(here, eve);
    const unknown = '99999999-9999-4999-8999-999999999999';
    const statementsOf = async (id: string): Promise<string[]> => {
      statements.length = 0;
      t.equal((await as(here, ada)('DELETE', `/api/sessions/${id}`)).statusCode, 404);
      return [...statements];
    };
    await statementsOf(unknown);
    const ofForeign = await statementsOf(foreign);
    t.ok(ofForeign.length > 0);
    t.same(ofForeign, await statementsOf(unknown), 'so that no clock tells one from the other');
  });

  for (const mode of ['view', 'control'] as const) {
    t.test(`an end of a share (${mode}), for one or all, closes the other process's sockets`, async (t) => {
      const group = await shared(mode);
      const { here, ada, bob, eve, id, backend, open, addressThere } = group;
      const owner = await open(ada, addressThere);
      // No timer runs here: the message closes them.
      const [his, hers] = [await open(bob, addressThere), await open(eve, addressThere)];
      await as(here, ada)('DELETE', `/api/collaborations/${id}/participants/${eve.id}`);
      t.same(await hers.closed(), ENDED);
      t.equal(his.socket.readyState, his.socket.OPEN, 'the others stay');
      await as(here, ada)('DELETE', `/api/collaborations/${id}`);
      t.same(await his.closed(), ENDED);
      t.equal(owner.socket.readyState, owner.socket.OPEN);
      await here.collaborations.keep();
      const theirs = [bob, eve].map(({ id }) => `user-${id}`);
      const killed = theirs.filter((session) => backend.killed.includes(session));
      t.same(killed, mode === 'control' ? theirs : []);
    });
  }

  t.test('a delete at one process ends the share at the other, also after a restore', async (t) => {
    const group = await shared('control');
    const { here, there, ada, bob, eve, dbId, code, open, addressHere, addressThere } = group;
    const [owner, ...guests] = await Promise.all([
      open(ada, addressThere),
      open(bob, addressHere),
      open(eve, addressThere),
    ]);
    const events = await Promise.all([
      eventClient(addressHere, bob.token),
      eventClient(addressThere, eve.token),
    ]);
    t.equal((await as(here, ada)('DELETE', `/api/containers/${dbId}`)).statusCode, 200);
    for (const guest of guests) t.same(await guest.closed(), ENDED);
    t.same(await owner.closed(), [4004, 'container deleted']);
    for (const { messages, until } of events) {
      await until(() => messages.length > 0);
      t.match(messages, [{ type: 'container_deleted', data: { db_id: dbId, status: 'deleted' } }]);
    }
    for (const action of ['restore', 'start'])
      t.equal((await as(there, ada)('POST', `/api/containers/${dbId}/${action}`)).statusCode, 200);
    t.equal((await as(here, bob)('GET', `/api/containers/${dbId}`)).statusCode, 404);
    t.equal((await as(there, eve)('POST', '/api/collaborations/join', { code })).statusCode, 404);
    const deleted = events[0]?.messages[0]?.id ?? '';
    const later = await eventClient(addressHere, bob.token, deleted);
    const own = await eventClient(addressHere, ada.token, deleted);
    await own.until(() => own.messages.length === 2);
    t.same(later.messages, [], 'what became of it afterwards is not for them');
  });

  t.test("participants at the other process are listed, and the owner's size applies there", async (t) => {
    const group = await shared('control');
    const { ada, bob, open, addressHere, addressThere } = group;
    const owner = await open(ada, addressHere, { cols: 90, rows: 20 });
    const guest = await open(bob, addressThere);
    const received = (client: typeof owner): unknown =>
      client.messages.findLast(({ type }) => type === 'participants')?.['participants'];
    await owner.until(() => (received(owner) as unknown[])?.length === 2);
    t.match(received(owner), [
      { user_id: ada.id, owner: true, mode: 'control' },
      { user_id: bob.id, owner: false, mode: 'control' },
    ]);
    const size = () => guest.messages.findLast(({ type }) => type === 'size');
    await guest.until(() => size()?.['cols'] === 90);
    owner.socket.send(JSON.stringify({ type: 'resize', cols: 77, rows: 22 }));
    await guest.until(() => size()?.['cols'] === 77);
    owner.socket.close(1000);
    await guest.until(() => size()?.['cols'] === null && (received(guest) as unknown[]).length === 1);
  });

  t.test('a connection cut at the wrong moment delays the end of a share without losing it', async (t) => {
    const group = await shared('view');
    const { here, ada, bob, id, open, addressThere } = group;
    const guest = await open(bob, addressThere);
    await cutLines();
    await as(here, ada)('DELETE', `/api/collaborations/${id}`);
    t.same(await guest.closed(), ENDED);
  });

  t.test('of concurrent ends of a share one succeeds, recorded once', async (t) => {
    const group = await shared('control');
    const { here, there, ada, id, code, sql } = group;
    const answers = await Promise.all([
      ...[here, there, here, there].map((at) => as(at, ada)('DELETE', `/api/collaborations/${id}`)),
      here.collaborations.keep(),
    ]);
    t.ok(answers.every((answer) => answer === undefined || answer.statusCode === 200));
    const records = await sql(
      "select details from audit_records where action = 'collaboration_ended' and user_id = $1",
      [ada.id],
    );
    t.equal(records.length, 1);
    t.notOk(
      JSON.stringify(await sql('select * from audit_records')).includes(code),
      'the code is in no record',
    );
    t.notOk(JSON.stringify(await sql('select * from collaborations')).includes(code));
  });

  t.test('of two administrators who demote each other at once, one stays', async (t) => {
    const cluster = await scene();
    const { here, there, root, ada } = cluster;
    const change = (on: typeof here, who: typeof root, whom: string, body: object) =>
      as(on, who)('PATCH', `/api/admin/users/${whom}`, body);
    for (let round = 0; round < 10; round += 1) {
      const promoted = [await change(here, root, ada.id, { role: 'admin', disabled: false })];
      t.ok(promoted.every(({ statusCode }) => statusCode === 200));
      const isAdminThere = async () => (await as(there, ada)('GET', '/api/admin/users')).statusCode === 200;
      await waitFor(isAdminThere, { what: 'the other process hears of it' });
      const answers = await Promise.all([
        change(here, root, ada.id, { role: 'user' }),
        change(there, ada, root.id, { role: 'user' }),
      ]);
      const statuses = answers.map(({ statusCode }) => statusCode).sort();
      t.equal(statuses[0], 200);
      t.ok([403, 409].includes(statuses[1] ?? 0), `${statuses}`);
      const admins = await cluster.sql("select id from users where role = 'admin'");
      t.equal(admins.length, 1);
      if (admins[0].id === ada.id) await change(here, ada, root.id, { role: 'admin' });
    }
  });
}
