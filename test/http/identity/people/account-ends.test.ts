import t from 'tap';
import { aServiceInTime, from, type InTime, logIn } from '../../../support/service/factors.ts';
import { refusesByField } from '../../../support/service/refusals.ts';
import {
  again,
  anAdmin,
  anApiToken,
  aPerson,
  as,
  auditOf,
  type Bearer,
  person,
} from '../../../support/service/service.ts';

const HOUR_MS = 3_600_000;
const codeIn = (url: string): string => url.split('#code=')[1] ?? '';
const inHours = (service: InTime, hours: number): string =>
  new Date(service.clock.now().getTime() + hours * HOUR_MS).toISOString();

/** An administrator, and Ada, whose account ends in two hours. */
async function aScene() {
  const service = await aServiceInTime();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const change = (body: object, who: Bearer = root) =>
    as(service, who)('PATCH', `/api/admin/users/${ada.id}`, body);
  const ends_at = inHours(service, 2);
  const set = await change({ ends_at });
  return { service, root, ada, change, ends_at, set };
}

t.test('a user knows the end of the account before it comes', async (t) => {
  const { service, root, ada, ends_at, set } = await aScene();
  t.match([set.statusCode, set.json()], [200, { username: 'ada', ends_at, disabled_at: null }]);
  t.match((await as(service, ada)('GET', '/api/me')).json(), { ends_at });
  t.match((await logIn(service, 'ada')).json(), { user: { ends_at } });
  const [record] = auditOf(service, 'user_updated') as unknown as { userId: string; details: string }[];
  t.match([record?.userId, record?.details], [root.id, new RegExp(`"endsAt":"${ends_at}"`)]);
});

t.test('nothing opens an ended account, even before it is disabled', async (t) => {
  const { service, ada, ends_at } = await aScene();
  const token = await anApiToken(service, ada, { scopes: ['read', 'write'] });
  const { cookie } = ada;
  const outcomes = async () => ({
    session: (await as(service, ada)('GET', '/api/me')).statusCode,
    token: (await as(service, token)('GET', '/api/containers')).statusCode,
    signIn: (await logIn(service, 'ada')).statusCode,
    refresh: (await from(service, { cookie })('/api/auth/refresh')).statusCode,
  });
  t.match(await outcomes(), { session: 200, token: 200, signIn: 200, refresh: 200 });
  service.clock.advance(2 * HOUR_MS);
  const closed = { session: 401, token: 401, signIn: 403, refresh: 401 };
  t.match(await outcomes(), closed);
  const reason = `It ended on ${ends_at.slice(0, 10)} at ${ends_at.slice(11, 16)} UTC.`;
  t.match((await logIn(service, 'ada')).json(), { code: 'account_disabled', reason });
  await Promise.all([service.endAccounts(), service.endAccounts()]);
  t.match(await outcomes(), closed, 'nor afterwards');
  t.match((await logIn(service, 'ada')).json(), { code: 'account_disabled', reason });
  t.equal(auditOf(service, 'account_ended').length, 1, 'recorded once');
});

t.test('an ended account receives nothing, even before it is disabled', async (t) => {
  const { service, root, ada } = await aScene();
  const bob = await aPerson(service, 'bob');
  service.clock.advance(2 * HOUR_MS);
  const call = as(service, await again(service, root, 'root'));
  const link = await call('POST', `/api/admin/users/${ada.id}/reset-links`, { kind: 'password' });
  t.match([link.statusCode, link.json()], [409, { code: 'user_disabled' }]);
  const removal = { containers: 'transfer', to: ada.id };
  const removed = await call('DELETE', `/api/admin/users/${bob.id}`, removal);
  t.match([removed.statusCode, removed.json()], [400, { fields: { to: String } }]);
});

t.test('all accounts that have ended are disabled at once, however many they are', async (t) => {
  const { service, root } = await aScene();
  const { users } = service.ports.storage.repositories;
  const same = { passwordHash: null, role: 'user', tier: 'free', guestUntil: null } as const;
  const endsAt = service.clock.now();
  for (let n = 0; n < 101; n += 1)
    await users.insert({ ...same, email: null, username: `person-${n}`, endsAt });
  await service.endAccounts();
  t.equal(auditOf(service, 'account_ended').length, 101);
  t.equal((await as(service, root)('GET', '/api/me')).statusCode, 200);
});

t.test('an ended account is enabled only with another end', async (t) => {
  const { service, change } = await aScene();
  service.clock.advance(2 * HOUR_MS);
  await service.endAccounts();
  t.match((await change({ disabled: false })).json(), {
    code: 'validation_failed',
    fields: { ends_at: String },
  });
  const ends_at = inHours(service, 24);
  t.match((await change({ disabled: false, ends_at })).json(), {
    disabled_at: null,
    disabled_reason: null,
    ends_at,
  });
  t.equal((await logIn(service, 'ada')).statusCode, 200);
  t.match((await change({ ends_at: null })).json(), { ends_at: null });
  service.clock.advance(48 * HOUR_MS);
  await service.endAccounts();
  t.equal((await logIn(service, 'ada')).statusCode, 200, 'without an end it stays');
});

t.test('an invitation or a new account may set the end', async (t) => {
  const { service, root } = await aScene();
  const account_ends_at = inHours(service, 48);
  const asked = { expires_in_hours: 24, account_ends_at };
  const made = await as(service, root)('POST', '/api/admin/invitations', asked);
  t.match(made.json(), { account_ends_at });
  const code = codeIn(made.json().url);
  t.match((await from(service)('/api/auth/invitations/check', { code })).json(), { account_ends_at });
  const joined = await from(service)('/api/auth/invitations/accept', { code, ...person('bob') });
  t.match(joined.json(), { user: { username: 'bob', ends_at: account_ends_at } });
  const cyd = { email: 'cyd@example.org', username: 'cyd', ends_at: account_ends_at };
  t.match((await as(service, root)('POST', '/api/admin/users', cyd)).json(), {
    user: { ends_at: account_ends_at },
  });
});

t.test('an end that makes no sense names its field and changes nothing', async (t) => {
  const { service, root, change, ends_at } = await aScene();
  const users = '/api/admin/users';
  const who = { email: 'cyd@example.org', username: 'cyd' };
  const admin = { role: 'admin', password: person('root').password };
  const post = (url: string) => (body: object) => as(service, root)('POST', url, body);
  await refusesByField<object>(t, post(users), [
    [{ ...who, ends_at: inHours(service, 0) }, 'ends_at'],
    [{ ...who, ends_at: '2030-01-01' }, 'ends_at'],
    [{ ...who, ...admin, ends_at: inHours(service, 48) }, 'ends_at'],
  ]);
  await refusesByField<object>(t, post('/api/admin/invitations'), [
    [{ expires_in_hours: 24, account_ends_at: inHours(service, 24) }, 'account_ends_at'],
    [{ ...admin, account_ends_at: inHours(service, 400) }, 'account_ends_at'],
  ]);
  t.equal((await change({ ends_at: inHours(service, -1) })).statusCode, 400);
  t.equal((await change(admin)).statusCode, 400, 'an administrator has no end');
  const { users: listed } = (await as(service, root)('GET', users)).json();
  t.match(
    listed.find((one: { username: string }) => one.username === 'ada'),
    { role: 'user', ends_at },
  );
  t.equal(listed.length, 2);
});
