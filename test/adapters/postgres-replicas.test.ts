import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { waitFor } from '../support/patience.ts';
import { onPostgres } from '../support/postgres-cluster.ts';
import { aPerson, as } from '../support/service.ts';
import { again, refresh, sessionIdOf, sessionsOf, statusOf } from '../support/sign-ins.ts';
import { endless, openStream, STREAMS } from '../support/streams.ts';
import { SOON_MS } from '../support/terminals.ts';

const UNAUTHORIZED = [4001, 'unauthorized'] as const;

t.test('a revocation reaches the sockets and requests of the other process within a second', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, there, ada, other, token, tokenId } = cluster;
  const [first, second] = [await cluster.openEverywhere(ada, 'a'), await cluster.openEverywhere(token, 'b')];
  const id = await sessionIdOf(here, ada);
  t.equal(await statusOf(there, ada), 200, 'and is remembered there for a moment');
  await as(here, other)('DELETE', `/api/sessions/${id}`);
  await as(here, other)('POST', `/api/tokens/${tokenId}/revoke`);
  const ends = await Promise.all([...first, ...second].map((one) => one.closed(SOON_MS)));
  t.same(ends, [UNAUTHORIZED, UNAUTHORIZED, UNAUTHORIZED, UNAUTHORIZED]);
  t.same(
    await Promise.all([statusOf(there, ada), statusOf(there, token), statusOf(there, other)]),
    [401, 401, 200],
  );
  await delay(50);
  t.same(await cluster.sql('select id from terminal_records'), [], 'their records went with them');
});

t.test('a revocation cuts off what the other process is sending within a second', async (t) => {
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
  const ends = new Set(await Promise.all(victims.map((one) => one.cut(SOON_MS))));
  t.same([...ends], ['cut off']);
  t.equal(await bystander?.cut(30), 'still open');
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
  t.same(await Promise.all(sockets.map((one) => one.closed(SOON_MS))), [UNAUTHORIZED, UNAUTHORIZED]);
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
    await delay(5);
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

t.test('another user cannot be told from nobody by time', async (t) => {
  const cluster = await onPostgres(t);
  if (cluster === null) return;
  const { here, ada } = cluster;
  const eve = await aPerson(here, 'eve');
  await here.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  const foreign = await sessionIdOf(here, eve);
  const unknown = '99999999-9999-4999-8999-999999999999';
  const total = { [foreign]: 0, [unknown]: 0 };
  for (let round = 0; round < 300; round += 1) {
    for (const id of round % 2 ? [foreign, unknown] : [unknown, foreign]) {
      const before = performance.now();
      await as(here, ada)('DELETE', `/api/sessions/${id}`);
      total[id] = (total[id] ?? 0) + performance.now() - before;
    }
  }
  const apart = Math.abs((total[foreign] ?? 0) - (total[unknown] ?? 0)) / 300;
  t.ok(apart < 1, `means are ${apart.toFixed(3)} ms apart`);
});
