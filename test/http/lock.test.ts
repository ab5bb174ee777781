import t from 'tap';
import { HASHES_PER_USER } from '../../src/app/hashing.ts';
import { actions, aServiceInTime, from, type InTime } from '../support/factors.ts';
import { aPerson, as, type Person, person } from '../support/service.ts';

const MINUTE_MS = 60_000;
const locked = [423, { error: 'session locked', code: 'session_locked' }];

async function aLockedPerson(service: InTime, name = 'ada', passcode = '1234') {
  const who = await aPerson(service, name);
  const call = as(service, who);
  await call('PUT', '/api/me/lock', { passcode });
  await call('POST', '/api/sessions/lock');
  return { who, call };
}

/** Another session of the same user. */
async function anotherSession(service: InTime, name: string): Promise<Person> {
  const { password } = person(name);
  const answer = await from(service)('/api/auth/login', { email: name, password });
  return { token: answer.json().token, id: answer.json().user.id, cookie: answer.cookies[0]?.value ?? '' };
}

t.test('a passcode has 4 to 64 characters and is never shown', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  for (const passcode of ['', '123', 'x'.repeat(65), 1234, null]) {
    const answer = await call('PUT', '/api/me/lock', { passcode });
    t.match([answer.statusCode, answer.json()], [400, { fields: { passcode: String } }], String(passcode));
  }
  let current: object = {};
  for (const passcode of ['1234', '    ', 'x'.repeat(64), '🔒🔒🔒🔒']) {
    const answer = await call('PUT', '/api/me/lock', { passcode, ...current });
    current = { current_passcode: passcode };
    t.same([answer.statusCode, answer.json()], [200, { passcode_set: true }], passcode);
  }
  t.equal((await call('GET', '/api/me')).json().passcode_set, true);
});

t.test('without a passcode there is nothing to lock or unlock', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  for (const answer of [
    await call('POST', '/api/sessions/lock'),
    await call('POST', '/api/sessions/unlock', { passcode: '1234' }),
  ]) {
    t.same([answer.statusCode, answer.json().code], [409, 'passcode_not_set']);
  }
});

t.test('a locked session is closed to all but unlocking, leaving and asking who it is', async (t) => {
  const service = await aServiceInTime();
  const { call } = await aLockedPerson(service);
  for (const [method, url] of [
    ['GET', '/api/containers'],
    ['POST', '/api/containers'],
    ['GET', '/api/containers/x/terminal'],
    ['GET', '/api/images'],
    ['PATCH', '/api/me'],
    ['PUT', '/api/me/lock'],
    ['DELETE', '/api/me/lock'],
    ['POST', '/api/me/password'],
    ['POST', '/api/me/mfa'],
    ['GET', '/api/me/passkeys'],
    ['GET', '/api/tokens'],
    ['POST', '/api/tokens'],
    ['POST', '/api/sessions/lock'],
    ['GET', '/api/admin/settings'],
  ] as const) {
    const answer = await call(method, url, method === 'GET' ? undefined : {});
    t.same([answer.statusCode, answer.json()], locked, `${method} ${url}`);
  }
  t.match((await call('GET', '/api/me')).json(), { username: 'ada', locked: true });
  const opened = await call('POST', '/api/sessions/unlock', { passcode: '1234' });
  t.same([opened.statusCode, opened.json()], [200, { locked: false }]);
  t.equal((await call('GET', '/api/containers')).statusCode, 200);
  t.equal((await call('GET', '/api/me')).json().locked, false);
  t.ok(
    ['screen_locked', 'screen_unlocked', 'passcode_changed'].every((one) => actions(service).includes(one)),
  );
});

t.test('a locked session may leave', async (t) => {
  const service = await aServiceInTime();
  const { call } = await aLockedPerson(service);
  t.equal((await call('POST', '/api/auth/logout')).statusCode, 200);
  t.equal((await call('GET', '/api/me')).statusCode, 401);
});

t.test('the lock is of one session, and API tokens have no screen', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const { token } = (await call('POST', '/api/tokens', { name: 'ci' })).json();
  const second = await anotherSession(service, 'ada');
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('PATCH', '/api/me', { auto_lock_minutes: 1 });
  await call('POST', '/api/sessions/lock');
  t.equal((await call('GET', '/api/containers')).statusCode, 423);
  t.equal((await as(service, second)('GET', '/api/containers')).statusCode, 200, 'the other session');
  service.clock.advance(30 * MINUTE_MS);
  const machine = as(service, { ...ada, token });
  t.equal((await machine('GET', '/api/containers')).statusCode, 200, 'the token');
  t.equal(
    (await machine('POST', '/api/sessions/unlock', { passcode: '1234' })).json().code,
    'login_token_required',
  );
});

t.test('a refresh renews a locked session, and it stays locked', async (t) => {
  const service = await aServiceInTime();
  const { who } = await aLockedPerson(service);
  const fresh = await from(service, { cookie: who.cookie })('/api/auth/refresh');
  t.equal(fresh.statusCode, 200);
  const call = as(service, { ...who, token: fresh.json().token });
  t.equal((await call('GET', '/api/containers')).statusCode, 423);
});

t.test(
  'the fifth wrong passcode in a row ends the session; a right one before it clears the count',
  async (t) => {
    const service = await aServiceInTime();
    const { call, who } = await aLockedPerson(service);
    const unlock = async (passcode: string) => {
      const answer = await call('POST', '/api/sessions/unlock', { passcode });
      return [answer.statusCode, answer.json().error ?? 'open'];
    };
    for (let tries = 0; tries < 4; tries += 1) t.same(await unlock('0000'), [403, 'wrong passcode']);
    t.same(await unlock('1234'), [200, 'open']);
    await call('POST', '/api/sessions/lock');
    for (let tries = 0; tries < 5; tries += 1) t.same(await unlock('0000'), [403, 'wrong passcode']);
    t.same(await unlock('1234'), [401, 'unauthorized'], 'the right one is too late');
    t.equal((await call('GET', '/api/me')).statusCode, 401);
    const refresh = await from(service, { cookie: who.cookie })('/api/auth/refresh');
    t.equal(refresh.statusCode, 401, 'its refresh token is dead as well');
    const [session] = (
      service.ports.storage as unknown as { state: { sessions: { revokedReason: string }[] } }
    ).state.sessions;
    t.equal(session?.revokedReason, 'too_many_wrong_passcodes');
    const done = actions(service);
    t.equal(done.filter((one) => one === 'screen_unlock_failed').length, 9);
    t.ok(done.includes('session_revoked'));
  },
);

t.test('a wrong passcode is wrong for an open session too', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  t.equal((await call('POST', '/api/sessions/unlock', { passcode: '9999' })).statusCode, 403);
  t.equal((await call('POST', '/api/sessions/unlock', { passcode: '1234' })).statusCode, 200);
});

t.test('removing the passcode from an open session opens the others', async (t) => {
  const service = await aServiceInTime();
  const { who } = await aLockedPerson(service);
  const second = as(service, await anotherSession(service, 'ada'));
  const given = { current_passcode: '1234' };
  t.same((await second('DELETE', '/api/me/lock', given)).json(), { passcode_set: false });
  t.equal((await as(service, who)('GET', '/api/containers')).statusCode, 200);
  t.same((await second('DELETE', '/api/me/lock', given)).json(), { passcode_set: false }, 'again is success');
});

t.test('of many passcodes tried at once, five count', async (t) => {
  const service = await aServiceInTime();
  const { call } = await aLockedPerson(service, 'ada', '0042');
  const tries = Array.from({ length: 40 }, (_, n) => String(n + 10).padStart(4, '0'));
  const answers = await Promise.all(
    tries.map((passcode) => call('POST', '/api/sessions/unlock', { passcode })),
  );
  const statuses = answers.map(({ statusCode }) => statusCode);
  t.equal(statuses.filter((status) => status === 403).length, 5);
  t.notOk(statuses.includes(200), 'the right one among them came too late');
});

t.test(
  'a passcode is changed and removed by who knows it; the fifth wrong one ends the session',
  async (t) => {
    const service = await aServiceInTime();
    const call = as(service, await aPerson(service, 'ada'));
    const passcode = '1234';
    await call('PUT', '/api/me/lock', { passcode });
    for (const [method, body] of [
      ['PUT', { passcode: '5678' }],
      ['DELETE', undefined],
    ] as const) {
      const missing = await call(method, '/api/me/lock', body);
      t.match(
        [missing.statusCode, missing.json()],
        [403, { code: 'confirmation_required', fields: { current_passcode: String } }],
        method,
      );
      const wrong = await call(method, '/api/me/lock', { ...body, current_passcode: '0000' });
      t.same([wrong.statusCode, wrong.json().code], [403, 'wrong_passcode'], method);
    }
    t.equal((await call('POST', '/api/sessions/unlock', { passcode })).statusCode, 200, 'it is what it was');
    const changed = await call('PUT', '/api/me/lock', { passcode: '5678', current_passcode: passcode });
    t.equal(changed.statusCode, 200);
    for (let tries = 0; tries < 5; tries += 1) {
      t.equal((await call('DELETE', '/api/me/lock', { current_passcode: passcode })).statusCode, 403);
    }
    t.equal((await call('DELETE', '/api/me/lock', { current_passcode: '5678' })).statusCode, 401);
    t.equal(actions(service).filter((one) => one === 'confirmation_failed').length, 7);
  },
);

t.test('a user has so many passcodes hashed in a minute', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const change = async (n: number) =>
    await call('PUT', '/api/me/lock', { passcode: `code ${n}`, current_passcode: `code ${n - 1}` });
  for (let n = 1; n <= HASHES_PER_USER; n += 1) t.equal((await change(n)).statusCode, 200);
  const refused = await change(HASHES_PER_USER + 1);
  t.match([refused.statusCode, refused.json()], [429, { code: 'rate_limited' }]);
  service.clock.advance(Number(refused.headers['retry-after']) * 1000);
  t.equal((await change(HASHES_PER_USER + 1)).statusCode, 200);
});
