import t from 'tap';
import type { memoryStorage } from '../../../src/adapters/memory/index.ts';
import { waitFor } from '../../support/patience.ts';
import { aCluster, inMemory } from '../../support/service/cluster.ts';
import { refusesByField } from '../../support/service/refusals.ts';
import { aGuest, anAdmin, aPerson, aService, as, auditOf, outcome } from '../../support/service/service.ts';

const USERS = '/api/admin/users';
const SETTINGS = '/api/admin/settings';
const TERMINALS = '/api/admin/terminals';

/** An administrator and Ada; `change` changes her, or a named user. */
async function aScene() {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const call = as(service, root);
  const change = (body: object, { id } = ada) => call('PATCH', `${USERS}/${id}`, body);
  return { service, root, ada, call, change };
}

t.test('an administrator sees all users, newest first', async (t) => {
  const { service, call } = await aScene();
  for (const name of ['bob', 'cyd', 'dan']) {
    service.clock.advance(1);
    await aPerson(service, name);
  }
  const all = await call('GET', USERS);
  const names = all.json().users.map(({ username }: { username: string }) => username);
  t.same(names.slice(0, 3), ['dan', 'cyd', 'bob']);
  t.same(names.slice(3).sort(), ['ada', 'root'], 'made at one time');
  t.equal(all.json().next_cursor, null);
  const root = { email: 'root@example.org', role: 'admin', tier: 'enterprise', disabled_at: null };
  t.match(all.json().users[names.indexOf('root')], root);
  t.notMatch(all.body, /correct horse|hash/);
  t.equal((await call('GET', `${USERS}?role=guest`)).statusCode, 400);
});

t.test(
  'a new tier and role hold from the next request, and what changes nothing is not recorded',
  async (t) => {
    const { service, ada, change } = await aScene();
    const hers = as(service, ada);
    const answer = await change({ tier: 'pro', role: 'admin' });
    t.equal(answer.statusCode, 200);
    t.match(answer.json(), { id: ada.id, username: 'ada', tier: 'pro', role: 'admin', disabled_at: null });
    t.match((await hers('GET', '/api/me')).json(), { tier: 'pro', role: 'admin' });
    t.equal((await hers('GET', USERS)).statusCode, 200, 'the very next request may');
    await change({ role: 'user' });
    t.equal((await hers('GET', USERS)).statusCode, 403, 'and may not again');
    for (const same of [{ role: 'user', tier: 'pro' }, {}]) t.equal((await change(same)).statusCode, 200);
    t.equal(auditOf(service, 'user_updated').length, 2, 'what changes nothing is not recorded');
  },
);

t.test('the last administrator stays one', async (t) => {
  const { service, root, change } = await aScene();
  t.same(outcome(await change({ role: 'user' }, root)), [409, 'last_administrator']);
  t.equal(auditOf(service, 'user_updated').length, 0, 'nothing was changed');
  await change({ role: 'admin', disabled: true });
  t.equal((await change({ role: 'user' }, root)).statusCode, 409, 'a disabled one does not count');
  await change({ disabled: false });
  t.equal((await change({ role: 'user' }, root)).statusCode, 200);
});

t.test("faults of a user's change are reported, and nothing changes", async (t) => {
  const { service, ada, change } = await aScene();
  await refusesByField<object>(t, change, [
    [{ tier: 'gold' }, 'tier'],
    [{ tier: null }, 'tier'],
    [{ role: 'root' }, 'role'],
    [{ disabled: 'true' }, 'disabled'],
    [{ email: 'x@y' }, 'email'],
    [{ password_hash: 'x' }, 'password_hash'],
    [{ disabled_reason: 'left' }, 'disabled_reason'],
    [{ disabled: true, disabled_reason: ' ' }, 'disabled_reason'],
    [{ disabled: true, disabled_reason: 'two\nlines' }, 'disabled_reason'],
    [{ tier: 'pro', id: 'x' }, 'id'],
    [[], 'body'],
  ]);
  const guest = await change({ role: 'admin' }, await aGuest(service));
  t.same([guest.statusCode, guest.json().fields], [400, { role: 'must be user for a guest' }]);
  const unchanged = { tier: 'free', role: 'user', email: 'ada@example.org' };
  t.match((await as(service, ada)('GET', '/api/me')).json(), unchanged);
  for (const id of ['99999999-9999-4999-8999-999999999999', 'x', '__proto__', 'ada']) {
    const answer = await change({ tier: 'pro' }, { ...ada, id });
    const none = { error: 'user not found', code: 'user_not_found' };
    t.same([answer.statusCode, answer.json()], [404, none], id);
  }
});

t.test('administrators read and change the settings', async (t) => {
  const { service, call } = await aScene();
  const before = (await call('GET', SETTINGS)).json();
  t.match(before, { session_idle_minutes: 1440, retention_days: 7, history_days: 30 });
  const changed = await call('PATCH', SETTINGS, { session_idle_minutes: 30 });
  t.same(changed.json(), { ...before, session_idle_minutes: 30 });
  for (const body of [{}, { session_idle_minutes: 30 }, { session_idle_minutes: 30, retention_days: 7 }])
    t.same((await call('PATCH', SETTINGS, body)).json(), changed.json());
  t.equal(auditOf(service, 'settings_updated').length, 1, 'a change of nothing is not on record');
  await call('PATCH', SETTINGS, { session_idle_minutes: 30, retention_days: 6 });
  t.match(auditOf(service, 'settings_updated')[1], { details: '{"retentionDays":6}' });
  await call('PATCH', SETTINGS, { retention_days: 7 });
  for (const body of [
    { session_idle_minutes: 29 },
    { session_idle_minutes: 1441 },
    { session_idle_minutes: 30.5 },
    { session_idle_minutes: '60' },
    { retention_days: -1 },
    { retention_days: 1.5 },
    { retention_days: 3651 },
    { history_days: 29 },
    { history_days: 3651 },
    { open_registration: 'true' },
    { open_registration: null },
    { jwt_secret: 'x' },
  ]) {
    t.equal((await call('PATCH', SETTINGS, body)).statusCode, 400, JSON.stringify(body));
  }
});

t.test("administrators see everybody's open terminals, and others do not", async (t) => {
  const { here, root, ada, other, open } = await aCluster(t);
  t.same((await as(here, root)('GET', TERMINALS)).json(), { terminals: [] });
  const first = await open(ada, 'main');
  const second = await open(other, 'pane2');
  const answer = await as(here, root)('GET', TERMINALS);
  const [newest, oldest] = answer.json().terminals;
  t.same(
    Object.keys(newest).join(' '),
    'id user_id username container_id container_name connection_id mux_session owner cols rows ' +
      'created_at last_ping_at client ip_address viewers replica',
  );
  t.match(oldest, {
    id: /^[0-9a-f-]{36}$/,
    user_id: ada.id,
    username: 'ada',
    container_name: 'dev',
    connection_id: 'main',
    mux_session: 'main',
    owner: true,
    cols: 80,
    rows: 24,
    created_at: '2026-01-01T00:00:00.000Z',
    last_ping_at: '2026-01-01T00:00:00.000Z',
    client: 'command',
    ip_address: '127.0.0.1',
    viewers: 0,
  });
  t.equal(newest.connection_id, 'pane2');
  t.equal((await as(here, ada)('GET', TERMINALS)).statusCode, 403);
  const now = async () => (await as(here, root)('GET', TERMINALS)).json().terminals;
  second.socket.close();
  first.socket.terminate();
  await waitFor(async () => (await now()).length === 0, { what: 'gone when closed, and when cut' });
});

t.test("a dead process's records are removed", async (t) => {
  const shared = inMemory();
  const clock = shared.clock as { now(): Date; advance(ms: number): void };
  const monotonicMs = () => clock.now().getTime();
  const { here, ada, open } = await aCluster(t, { ...shared, monotonicMs });
  const { state } = shared.storage as ReturnType<typeof memoryStorage>;
  await open(ada, 'main');
  await waitFor(() => state.terminals.length === 1);
  const pass = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      clock.advance(15_000);
      await here.writeDue();
    }
  };
  await pass(6);
  t.equal(state.terminals.length, 1);
  await pass(1);
  t.equal(state.terminals.length, 0, 'nobody has answered a ping for more than 75 seconds');
});
