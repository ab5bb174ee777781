import t from 'tap';
import { aServiceInTime, from } from '../support/factors.ts';
import { aGuest, anAdmin, aPerson, as } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const expired = [403, { error: 'guest session expired', code: 'guest_session_expired' }];

t.test('a guest comes in without an account, with the tier of guests, for a day', async (t) => {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const answer = await from(service)('/api/auth/guest', {});
  t.equal(answer.statusCode, 200);
  const user = { email: null, username: /^guest-[0-9a-f]{10}$/, tier: 'guest', role: 'user' };
  t.match(answer.json(), { token: String, expires_at: String, session_id: String, user });
  t.match(answer.cookies, [{ name: 'berth_refresh', httpOnly: true }]);
  const me = (await as(service, await aGuest(service))('GET', '/api/me')).json();
  t.equal(Date.parse(me.guest_until) - service.clock.now().getTime(), 24 * HOUR_MS);
  t.equal((await from(service)('/api/auth/guest')).statusCode, 200, 'also without a body');
});

t.test('a guest may choose a name that is free', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  t.equal(
    (await as(service, await aGuest(service, { username: 'eve' }))('GET', '/api/me')).json().username,
    'eve',
  );
  for (const username of ['ada', 'ADA', 'eve', '', 'a b', '-x', 'x'.repeat(40), 7, null]) {
    const answer = await from(service)('/api/auth/guest', { username });
    t.match([answer.statusCode, answer.json()], [400, { fields: { username: String } }], String(username));
  }
});

t.test('a guest is not called like who runs the service, and takes no such name later', async (t) => {
  const service = await aServiceInTime();
  const guest = as(service, await aGuest(service));
  const reserved = { code: 'validation_failed', fields: { username: 'is reserved' } };
  for (const username of ['Administrator', 'root', 'r00t', 'Berth']) {
    const entered = await from(service)('/api/auth/guest', { username });
    t.match([entered.statusCode, entered.json()], [400, reserved], username);
    const renamed = await guest('PATCH', '/api/me', { username });
    t.match([renamed.statusCode, renamed.json()], [400, reserved], username);
  }
});

t.test('no guest enters until an administrator allows it, and for how long they decide too', async (t) => {
  const service = await aServiceInTime();
  const admin = as(service, await anAdmin(service));
  const settings = '/api/admin/settings';
  const offered = async () => (await service.http.inject('/api/auth/options')).json().guests_enabled;
  const refused = [403, { error: 'guests are not allowed here', code: 'guests_disabled' }];
  const enter = async () => {
    const answer = await from(service)('/api/auth/guest', {});
    return [answer.statusCode, answer.json()];
  };
  t.match((await admin('GET', settings)).json(), { guests_enabled: false, guest_lifetime_hours: 24 });
  t.same([await offered(), await enter()], [false, refused], 'off as it comes, and not offered');
  for (const guest_lifetime_hours of [0, -1, 1.5, 8761, '24', null]) {
    const answer = await admin('PATCH', settings, { guest_lifetime_hours });
    t.equal(answer.statusCode, 400, String(guest_lifetime_hours));
  }
  await admin('PATCH', settings, { guests_enabled: true, guest_lifetime_hours: 2 });
  t.equal(await offered(), true);
  const { token } = (await from(service)('/api/auth/guest', {})).json();
  const me = (await as(service, { token })('GET', '/api/me')).json();
  t.equal(Date.parse(me.guest_until) - service.clock.now().getTime(), 2 * HOUR_MS);
  await admin('PATCH', settings, { guests_enabled: false });
  t.same([await offered(), await enter()], [false, refused]);
});

t.test('when its time is over a guest starts nothing, and still reads and deletes', async (t) => {
  const service = await aServiceInTime();
  const guest = await aGuest(service);
  const call = as(service, guest);
  const made = await call('POST', '/api/containers', { name: 'dev' });
  t.equal(made.statusCode, 201);
  const box = `/api/containers/${made.json().db_id}`;
  t.equal((await call('POST', '/api/containers', { name: 'two' })).json().code, 'container_limit_reached');

  const beforeEnd = 24 * HOUR_MS - 1;
  for (let passed = 0; passed < beforeEnd; passed += beforeEnd / 3) {
    service.clock.advance(beforeEnd / 3);
    t.equal((await call('POST', `${box}/start`)).statusCode, 200, 'within its time');
    await service.writeDue();
  }
  service.clock.advance(1);
  for (const [method, url, payload] of [
    ['POST', `${box}/start`, undefined],
    ['POST', `${box}/exec`, { command: ['true'] }],
    ['GET', `${box}/terminal`, undefined],
    ['POST', '/api/containers', { name: 'new' }],
  ] as const) {
    const answer = await call(method, url, payload);
    t.same([answer.statusCode, answer.json()], expired, `${method} ${url}`);
  }
  t.equal((await call('GET', '/api/me')).statusCode, 200);
  t.equal((await call('GET', '/api/containers')).json().containers.length, 1);
  t.equal((await call('POST', `${box}/stop`)).statusCode, 200);
  t.equal((await call('DELETE', box)).statusCode, 200);
  const renewed = await from(service, { cookie: guest.cookie })('/api/auth/refresh');
  t.equal(renewed.statusCode, 200, 'its session may be renewed, to read and delete');
});

t.test('a guest has no password to sign in with, or to change', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aGuest(service, { username: 'eve' }));
  for (const password of ['', 'null', 'password']) {
    const answer = await from(service)('/api/auth/login', { email: 'eve', password });
    t.same([answer.statusCode, answer.json().error], [401, 'invalid email or password']);
  }
  const change = { old_password: '', new_password: 'a password of mine' };
  t.equal((await call('POST', '/api/me/password', change)).statusCode, 403);
});

t.test('one address brings twenty guests a minute', async (t) => {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const enter = (ip: string) => from(service, { ip })('/api/auth/guest', {});
  const answers = await Promise.all(Array.from({ length: 25 }, () => enter('203.0.113.7')));
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 20);
  const refused = answers.find(({ statusCode }) => statusCode === 429);
  t.match(refused?.headers, { 'retry-after': /^\d+$/ });
  t.equal((await enter('203.0.113.8')).statusCode, 200);
});
