import t from 'tap';
import { HASHES_PER_USER } from '../../../src/app/identity/limits/hashing-queue.ts';
import { waitFor } from '../../support/patience.ts';
import { aCluster, inMemory } from '../../support/service/cluster.ts';
import { actions, aServiceInTime, type InTime } from '../../support/service/factors.ts';
import { again, anApiToken, aPerson, as, refresh, stateOf } from '../../support/service/service.ts';

const MINUTE_MS = 60_000;
const UNAUTHORIZED = [4001, 'unauthorized'] as const;

/** Ada, whose screen is locked once she has a passcode. */
async function aScene(passcode?: string) {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  if (passcode !== undefined) {
    await call('PUT', '/api/me/lock', { passcode });
    await call('POST', '/api/sessions/lock');
  }
  return { service, ada, call, use: async () => (await call('GET', '/api/containers')).statusCode };
}

const count = (service: InTime, action: string): number =>
  actions(service).filter((one) => one === action).length;

t.test('a passcode is checked and never shown, and without one nothing locks', async (t) => {
  const { call } = await aScene();
  for (const answer of [
    await call('POST', '/api/sessions/lock'),
    await call('POST', '/api/sessions/unlock', { passcode: '1234' }),
  ])
    t.same([answer.statusCode, answer.json().code], [409, 'passcode_not_set']);
  for (const passcode of ['', '123', 1234, null]) {
    const answer = await call('PUT', '/api/me/lock', { passcode });
    t.match([answer.statusCode, answer.json()], [400, { fields: { passcode: String } }], String(passcode));
  }
  const set = await call('PUT', '/api/me/lock', { passcode: '🔒🔒🔒🔒' });
  t.same([set.statusCode, set.json()], [200, { passcode_set: true }]);
  t.equal((await call('GET', '/api/me')).json().passcode_set, true);
});

t.test('of two concurrent passcode changes one wins', async (t) => {
  const { service, call } = await aScene();
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  const answers = await Promise.all(
    ['1111', '2222'].map((passcode) => call('PUT', '/api/me/lock', { passcode, current_passcode: '1234' })),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 403]);
  t.same([count(service, 'passcode_changed'), count(service, 'confirmation_failed')], [2, 1]);
});

t.test('a locked session shows its user, may sign out, and opens with its passcode', async (t) => {
  const { service, ada, call, use } = await aScene('1234');
  const refused = await call('GET', '/api/containers');
  t.same([refused.statusCode, refused.json()], [423, { error: 'session locked', code: 'session_locked' }]);
  t.match((await call('GET', '/api/me')).json(), { username: 'ada', locked: true });
  const opened = await call('POST', '/api/sessions/unlock', { passcode: '1234' });
  t.same([opened.statusCode, opened.json()], [200, { locked: false }]);
  t.equal(await use(), 200);
  t.equal((await call('GET', '/api/me')).json().locked, false);
  await call('POST', '/api/sessions/lock');
  const fresh = await refresh(service, ada);
  t.equal(fresh.statusCode, 200, 'it is renewed');
  const renewed = as(service, { token: fresh.json().token });
  t.equal((await renewed('GET', '/api/containers')).statusCode, 423, 'and stays locked');
  t.equal((await renewed('POST', '/api/auth/logout')).statusCode, 200);
  t.equal((await call('GET', '/api/me')).statusCode, 401);
});

t.test('the lock belongs to one session, and API tokens have no screen', async (t) => {
  const { service, ada, call, use } = await aScene();
  const machine = as(service, await anApiToken(service, ada));
  const second = as(service, await again(service, ada, 'ada'));
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('PATCH', '/api/me', { auto_lock_minutes: 1 });
  await call('POST', '/api/sessions/lock');
  t.equal(await use(), 423);
  t.equal((await second('GET', '/api/containers')).statusCode, 200, 'the other session');
  service.clock.advance(30 * MINUTE_MS);
  t.equal((await machine('GET', '/api/containers')).statusCode, 200, 'the token');
  const unlock = await machine('POST', '/api/sessions/unlock', { passcode: '1234' });
  t.equal(unlock.json().code, 'login_token_required');
});

t.test('five wrong passcodes in a row end a session; a right one before clears the count', async (t) => {
  const { service, ada, call } = await aScene('1234');
  const unlock = async (passcode: string) => {
    const answer = await call('POST', '/api/sessions/unlock', { passcode });
    return [answer.statusCode, answer.json().error ?? 'open'];
  };
  for (let tries = 0; tries < 4; tries += 1) t.same(await unlock('0000'), [403, 'wrong passcode']);
  t.same(await unlock('1234'), [200, 'open']);
  for (let tries = 0; tries < 5; tries += 1) t.same(await unlock('0000'), [403, 'wrong passcode']);
  t.same(await unlock('1234'), [401, 'unauthorized'], 'the right one is too late');
  t.equal((await call('GET', '/api/me')).statusCode, 401);
  t.equal((await refresh(service, ada)).statusCode, 401, 'its refresh token is dead as well');
  const state = stateOf(service);
  t.equal(state.sessions[0]?.revokedReason, 'too_many_wrong_passcodes');
  t.equal(count(service, 'screen_unlock_failed'), 9);
  t.equal(count(service, 'session_revoked'), 1);
});

t.test('removing the passcode in an open session unlocks the others', async (t) => {
  const { service, ada, use } = await aScene('1234');
  const second = as(service, await again(service, ada, 'ada'));
  const given = { current_passcode: '1234' };
  t.same((await second('DELETE', '/api/me/lock', given)).json(), { passcode_set: false });
  t.equal(await use(), 200);
  t.same((await second('DELETE', '/api/me/lock', given)).json(), { passcode_set: false }, 'again is success');
});

t.test('changing and removing a passcode require it; five wrong ones end the session', async (t) => {
  const { service, call } = await aScene();
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
  const unlock = await call('POST', '/api/sessions/unlock', { passcode });
  t.equal(unlock.statusCode, 200, 'it is what it was, and an open session may ask');
  const change = { passcode: '5678', current_passcode: passcode };
  t.equal((await call('PUT', '/api/me/lock', change)).statusCode, 200);
  for (let tries = 0; tries < 5; tries += 1)
    t.equal((await call('DELETE', '/api/me/lock', { current_passcode: passcode })).statusCode, 403);
  t.equal((await call('DELETE', '/api/me/lock', { current_passcode: '5678' })).statusCode, 401);
  t.equal(count(service, 'confirmation_failed'), 7);
});

t.test("a user's passcode hashes are limited per minute", async (t) => {
  const { service, call } = await aScene();
  const change = (n: number) =>
    call('PUT', '/api/me/lock', { passcode: `code ${n}`, current_passcode: `code ${n - 1}` });
  for (let n = 1; n <= HASHES_PER_USER; n += 1) t.equal((await change(n)).statusCode, 200);
  const refused = await change(HASHES_PER_USER + 1);
  t.match([refused.statusCode, refused.json()], [429, { code: 'rate_limited' }]);
  service.clock.advance(Number(refused.headers['retry-after']) * 1000);
  t.equal((await change(HASHES_PER_USER + 1)).statusCode, 200);
});

t.test('an idle session locks after auto_lock_minutes, and a request does not open it', async (t) => {
  const { service, call, use } = await aScene();
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  const changed = await call('PATCH', '/api/me', { auto_lock_minutes: 5 });
  t.match(changed.json(), { auto_lock_minutes: 5, locked: false, username: 'ada' });
  const tick = async (ms: number) => {
    service.clock.advance(ms);
    await service.writeDue();
  };
  for (let minutes = 0; minutes < 12; minutes += 2) {
    t.equal(await use(), 200, `in use after ${minutes} minutes`);
    await tick(2 * MINUTE_MS);
  }
  t.equal(await use(), 200);
  await tick(5 * MINUTE_MS - 1);
  t.equal(await use(), 200, 'a moment before');
  await tick(5 * MINUTE_MS);
  t.equal((await call('GET', '/api/me')).json().locked, true);
  await tick(1_000);
  t.equal(await use(), 423, 'asking who it is was no use of it');
  t.equal((await call('POST', '/api/sessions/unlock', { passcode: '1234' })).statusCode, 200);
  t.equal(await use(), 200);
});

t.test('the auto-lock is a number of minutes or null, and tokens cannot change it', async (t) => {
  const { service, ada, call } = await aScene();
  const patch = (auto_lock_minutes: unknown, by = call) => by('PATCH', '/api/me', { auto_lock_minutes });
  for (const minutes of [0, -1, 1441, 1.5, '5', true])
    t.equal((await patch(minutes)).statusCode, 400, String(minutes));
  const answer = await patch(null, as(service, await anApiToken(service, ada)));
  t.same([answer.statusCode, answer.json().error], [403, 'login token required']);
  for (const minutes of [7, null]) t.equal((await patch(minutes)).json().auto_lock_minutes, minutes);
});

t.test('a session unlocked at one process is open at the other', async (t) => {
  const { here, there, ada, open } = await aCluster(t);
  await as(here, ada)('PUT', '/api/me/lock', { passcode: '1234' });
  await as(here, ada)('POST', '/api/sessions/lock');
  const status = async (of: typeof here) => (await as(of, ada)('GET', '/api/containers')).statusCode;
  t.same([await status(here), await status(there)], [423, 423]);
  await as(there, ada)('POST', '/api/sessions/unlock', { passcode: '1234' });
  await waitFor(async () => (await status(here)) === 200);
  t.ok(await (await open(ada, 'again')).alive());
});

t.test('input after the automatic lock does not reach the shell', async (t) => {
  const shared = inMemory();
  const clock = shared.clock as InTime['clock'];
  const cluster = await aCluster(t, { ...shared, monotonicMs: () => clock.now().getTime() });
  const { here, ada, backend } = cluster;
  const call = as(here, ada);
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('PATCH', '/api/me', { auto_lock_minutes: 1 });
  const terminal = await cluster.open(ada, 'main');
  const pty = backend.opened.at(-1);
  if (pty === undefined) return t.fail('no terminal was opened');
  const type = (text: string): void => terminal.socket.send(Buffer.from(text));
  type('ls');
  await waitFor(() => pty.typed() === 'ls');
  clock.advance(59_999);
  type(' -l');
  await waitFor(() => pty.typed() === 'ls -l', { what: 'a moment before' });
  clock.advance(60_000);
  type('; rm -rf ~');
  t.same(await terminal.closed(), UNAUTHORIZED);
  t.equal(pty.typed(), 'ls -l');
  t.equal((await call('GET', '/api/containers')).statusCode, 423);
});
