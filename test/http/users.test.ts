import t from 'tap';
import { aGuest, anAdmin, aPerson, aService, as, type Person } from '../support/service.ts';
import { again, auditOf, statusOf, type TestService } from '../support/sign-ins.ts';

const url = '/api/admin/users';
const change = (service: TestService, who: Person, whom: Person, body: object) =>
  as(service, who)('PATCH', `${url}/${whom.id}`, body);

t.test('an administrator sees all users, newest first, in parts', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const names = ['ada', 'bob', 'cyd', 'dan'];
  for (const name of names) {
    service.clock.advance(1);
    await aPerson(service, name);
  }
  const all = await as(service, root)('GET', url);
  t.same(
    all.json().users.map(({ username }: { username: string }) => username),
    ['dan', 'cyd', 'bob', 'ada', 'root'],
  );
  t.equal(all.json().next_cursor, null);
  t.match(all.json().users[4], {
    email: 'root@example.org',
    role: 'admin',
    tier: 'enterprise',
    disabled_at: null,
  });
  t.notMatch(all.body, /password|hash/);
  const first = (await as(service, root)('GET', `${url}?limit=3`)).json();
  const rest = (await as(service, root)('GET', `${url}?limit=3&cursor=${first.next_cursor}`)).json();
  t.same([first.users.length, rest.users.length, rest.next_cursor], [3, 2, null]);
  t.same([...first.users, ...rest.users], all.json().users);
  for (const query of ['limit=0', 'cursor=x', 'role=admin']) {
    t.equal((await as(service, root)('GET', `${url}?${query}`)).statusCode, 400, query);
  }
});

t.test('that an administrator looked is recorded once in a while', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  for (let times = 0; times < 5; times += 1) await as(service, root)('GET', url);
  t.match(auditOf(service, 'users_listed'), [{ userId: root.id }]);
  service.clock.advance(600_000);
  await as(service, root)('GET', url);
  t.equal(auditOf(service, 'users_listed').length, 2);
});

t.test('others do not see or change anybody', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const made = await as(service, root)('POST', '/api/tokens', { name: 'w', scopes: ['write'] });
  const token = { ...root, token: made.json().token };
  for (const [who, code] of [
    [ada, 'not_authorized'],
    [token, 'insufficient_scope'],
  ] as const) {
    for (const answer of [
      await as(service, who)('GET', url),
      await change(service, who, ada, { role: 'admin' }),
    ]) {
      t.same([answer.statusCode, answer.json().code], [403, code]);
    }
  }
});

t.test('tier and role are changed at once, with a record of it', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const answer = await change(service, root, ada, { tier: 'pro', role: 'admin' });
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), { id: ada.id, username: 'ada', tier: 'pro', role: 'admin', disabled_at: null });
  t.match((await as(service, ada)('GET', '/api/me')).json(), { tier: 'pro', role: 'admin' });
  t.equal((await as(service, ada)('GET', url)).statusCode, 200, 'the very next request may');
  t.match(auditOf(service, 'user_updated'), [
    { userId: root.id, details: JSON.stringify({ id: ada.id, tier: 'pro', role: 'admin' }) },
  ]);
  await change(service, root, ada, { role: 'user' });
  t.equal((await as(service, ada)('GET', url)).statusCode, 403, 'and may not again');
  t.equal((await change(service, root, ada, { role: 'user', tier: 'pro' })).statusCode, 200);
  t.equal((await change(service, root, ada, {})).statusCode, 200);
  t.equal(auditOf(service, 'user_updated').length, 2, 'what changes nothing is not recorded');
});

t.test('a token made by an administrator loses its power with its owner', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  await change(service, root, ada, { role: 'admin' });
  const made = await as(service, ada)('POST', '/api/tokens', { name: 'a', scopes: ['admin'] });
  const token = { ...ada, token: made.json().token };
  t.equal((await as(service, token)('GET', url)).statusCode, 200);
  await change(service, root, ada, { role: 'user' });
  t.same((await as(service, token)('GET', url)).json().code, 'not_authorized');
});

t.test('a disabled user is out everywhere, and cannot sign in', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const made = await as(service, ada)('POST', '/api/tokens', { name: 'ci' });
  const token = { ...ada, token: made.json().token };
  const disabled = (await change(service, root, ada, { disabled: true })).json();
  t.equal(disabled.disabled_at, '2026-01-01T00:00:00.000Z');
  t.same([await statusOf(service, ada), await statusOf(service, token)], [401, 401]);
  t.equal((await again(service, ada, 'ada')).token, undefined, 'no sign-in');
  service.clock.advance(1000);
  t.equal((await change(service, root, ada, { disabled: true })).json().disabled_at, disabled.disabled_at);
  t.equal((await change(service, root, ada, { disabled: false })).json().disabled_at, null);
  t.equal(await statusOf(service, ada), 401, 'its sessions ended for good');
  t.equal(await statusOf(service, token), 200, 'its token is back');
  t.equal(await statusOf(service, await again(service, ada, 'ada')), 200);
});

t.test('the last administrator stays one', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  for (const body of [{ role: 'user' }, { disabled: true }, { role: 'user', tier: 'free' }]) {
    const answer = await change(service, root, root, body);
    t.same([answer.statusCode, answer.json().code], [409, 'last_administrator'], JSON.stringify(body));
  }
  t.match((await as(service, root)('GET', '/api/me')).json(), { role: 'admin', tier: 'enterprise' });
  t.equal((await change(service, root, root, { tier: 'pro' })).statusCode, 200);
  await change(service, root, ada, { role: 'admin', disabled: true });
  t.equal(
    (await change(service, root, root, { role: 'user' })).statusCode,
    409,
    'a disabled one does not count',
  );
  await change(service, root, ada, { disabled: false });
  t.equal((await change(service, root, root, { role: 'user' })).statusCode, 200);
});

t.test('faults are told, and change nothing', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  for (const [body, field] of [
    [{ tier: 'gold' }, 'tier'],
    [{ tier: 1 }, 'tier'],
    [{ tier: null }, 'tier'],
    [{ role: 'root' }, 'role'],
    [{ disabled: 'true' }, 'disabled'],
    [{ disabled: 1 }, 'disabled'],
    [{ email: 'x@y' }, 'email'],
    [{ password: 'x' }, 'password'],
    [{ tier: 'pro', id: 'x' }, 'id'],
    [[], 'body'],
  ] as const) {
    const answer = await change(service, root, ada, body);
    t.same([answer.statusCode, Object.keys(answer.json().fields)], [400, [field]], JSON.stringify(body));
  }
  t.match((await as(service, ada)('GET', '/api/me')).json(), {
    tier: 'free',
    role: 'user',
    email: 'ada@example.org',
  });
  for (const id of ['99999999-9999-4999-8999-999999999999', 'x', '__proto__', 'ada']) {
    const answer = await as(service, root)('PATCH', `${url}/${id}`, { tier: 'pro' });
    t.same(
      [answer.statusCode, answer.json()],
      [404, { error: 'user not found', code: 'user_not_found' }],
      id,
    );
  }
});

t.test('a guest does not become an administrator', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const who = await aGuest(service);
  const answer = await change(service, root, who, { role: 'admin' });
  t.same([answer.statusCode, answer.json().fields], [400, { role: 'must be user for a guest' }]);
  t.equal((await change(service, root, who, { tier: 'free' })).statusCode, 200);
});
