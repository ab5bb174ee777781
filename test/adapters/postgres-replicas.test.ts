import t from 'tap';
import { onPostgres } from '../support/database/postgres-cluster.ts';
import { waitFor } from '../support/patience.ts';
import { aPerson, as } from '../support/service/service.ts';
import { again, refresh, sessionIdOf, sessionsOf, statusOf } from '../support/service/sign-ins.ts';
import { endless, openStream, STREAMS } from '../support/service/streams.ts';

const UNAUTHORIZED = [4001, 'unauthorized'] as const;

t.test('a revocation reaches the sockets and requests of the other process', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, there, ada, other, token, tokenId } = cluster;
  const [first, second] = [await cluster.openEverywhere(ada, 'a'), await cluster.openEverywhere(token, 'b')];
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

t.test('a revocation cuts off what the other process is sending', async (t) => {
  const work = endless();
  const cluster = await onPostgres(t, work.ports);
  if (cluster === null) return;
  const { here, ada, other, token, tokenId, addresses } = cluster;
  const open = (who: typeof ada) =>
    Promise.all(STREAMS.map((kind) => openStream(t, cluster, addresses[1], who, kind)));
  const victims = [...(await open(ada)), ...(await open(token))];
  const [bystander] = await open(other);
  await waitFor(() => work.atWork() === 3 * STREAMS.length);
  await as(here, other)('DELETE', `/api/sessions/${await sessionIdOf(here, ada)}`);
  await as(here, other)('POST', `/api/tokens/${tokenId}/revoke`);
  const ends = new Set(await Promise.all(victims.map((one) => one.cut())));
  t.same([...ends], ['cut off']);
  t.ok(await bystander?.goesOn());
  await waitFor(() => work.atWork() === STREAMS.length);
});

t.test('a line that was cut at the wrong moment delays a revocation, and does not lose it', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, ada, other, sql, buses } = cluster;
  const sockets = await cluster.openEverywhere(ada, 'main');
  const id = await sessionIdOf(here, ada);
  await sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'berth bus'");
  await as(here, other)('DELETE', `/api/sessions/${id}`);
  t.same(await Promise.all(sockets.map((one) => one.closed())), [UNAUTHORIZED, UNAUTHORIZED]);
  await waitFor(() => buses.every((one) => one.connected));
});

t.test('of two administrators who demote each other at once, one stays', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
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

t.test('of many who revoke one session at once, one is told that it did', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, there, ada, other } = cluster;
  const id = await sessionIdOf(here, ada);
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => as(n % 2 ? here : there, other)('DELETE', `/api/sessions/${id}`)),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, ...Array.from({ length: 9 }, () => 404)]);
  const records = await cluster.sql('select details from audit_records where action = $1', [
    'session_revoked',
  ]);
  t.same(records, [{ details: id }]);
});

t.test('of many refreshes at once one rotates, and all get the same successor', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, there, ada, sql } = cluster;
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) => refresh(n % 2 ? here : there, ada, 'browser')),
  );
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
  const successors = new Set(answers.map(({ cookies }) => cookies[0]?.value));
  t.equal(successors.size, 1);
  const id = await sessionIdOf(here, ada);
  const rows = await sql('select spent_at is null as fresh from refresh_tokens where session_id = $1', [id]);
  t.same(rows.map(({ fresh }) => fresh).sort(), [false, true]);
});

t.test(
  'revoking the others while somebody signs in leaves the new session or ends it, never half',
  async (t) => {
    const cluster = await onPostgres(t);
    if (cluster === null) return;
    const { here, there, ada } = cluster;
    const [answer, ...fresh] = await Promise.all([
      as(here, ada)('POST', '/api/sessions/revoke-others'),
      ...Array.from({ length: 4 }, () => again(there, ada, 'ada')),
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
  },
);

t.test('the session of another user costs the database what an unknown one does', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, ada, statements } = cluster;
  const eve = await aPerson(here, 'eve');
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
