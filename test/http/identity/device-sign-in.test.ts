import t from 'tap';
import { aServiceInTime, from, type InTime } from '../../support/service/factors.ts';
import {
  aGuest,
  again,
  anAdmin,
  anApiToken,
  aPerson,
  as,
  type Bearer,
  outcome,
  refresh,
  sessionsOf,
  stateOf,
  statusOf,
} from '../../support/service/service.ts';

const START = '/api/auth/device';
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const PROGRAM = { ip: '192.0.2.7', userAgent: 'berth/1.0 (linux)' };

/** Ada is signed in; a program waits for its code to be confirmed. */
async function aScene() {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const program = from(service, PROGRAM);
  const started = (await program(START, { machine: 'ada@laptop' })).json();
  const { device_code, user_code } = started;
  return {
    service,
    ada,
    program,
    started,
    user_code: user_code as string,
    poll: async () => {
      service.clock.advance(2 * SECOND_MS);
      return await program(`${START}/token`, { device_code });
    },
    confirm: (who: Bearer | null, what: 'find' | 'approve' | 'deny', payload: object = { user_code }) =>
      as(service, who)('POST', `${START}/${what}`, payload),
  };
}

t.test('a program signs in by a code that somebody confirms', async (t) => {
  const { service, ada, started, user_code, poll, confirm } = await aScene();
  t.match(started, {
    device_code: /^[\w-]{43}$/,
    user_code: /^[A-Z]{4}-[A-Z]{4}$/,
    verification_url: /^http:.*\/device$/,
    verification_url_complete: `${started.verification_url}#code=${user_code}`,
    interval_seconds: 2,
  });
  t.same(outcome(await poll()), [400, 'authorization_pending']);
  const found = await confirm(ada, 'find', { user_code: user_code.toLowerCase().replace('-', ' ') });
  t.match(found.json(), { machine: 'ada@laptop', ip_address: PROGRAM.ip, user_agent: PROGRAM.userAgent });
  t.same((await confirm(ada, 'approve')).json(), { approved: true });
  const signedIn = await poll();
  t.match(signedIn.json(), { token: String, user: { username: 'ada' } });
  const program = { token: signedIn.json().token, cookie: signedIn.cookies[0]?.value ?? '', id: ada.id };
  t.equal(await statusOf(service, program), 200);
  const sessions = await sessionsOf(service, ada);
  t.match(sessions[0], { user_agent: PROGRAM.userAgent, ip_address: PROGRAM.ip, is_current: false });
  t.equal((await refresh(service, program, PROGRAM.userAgent)).statusCode, 200, 'a session like any other');
  t.same(outcome(await poll()), [400, 'expired_token'], 'the code is used up');
});

t.test('a refused program gets nothing, and learns it once', async (t) => {
  const { service, ada, poll, confirm } = await aScene();
  t.same((await confirm(ada, 'deny')).json(), { denied: true });
  t.same(outcome(await confirm(ada, 'approve')), [404, 'device_code_not_found'], 'too late');
  t.same(outcome(await poll()), [403, 'access_denied']);
  t.same(outcome(await poll()), [400, 'expired_token']);
  t.equal((await sessionsOf(service, ada)).length, 1);
});

t.test('only one confirms, and what another approves later changes nothing', async (t) => {
  const { service, ada, poll, confirm } = await aScene();
  const mallory = await aPerson(service, 'mallory');
  await confirm(ada, 'approve');
  for (const what of ['find', 'approve', 'deny'] as const) {
    t.same(outcome(await confirm(mallory, what)), [404, 'device_code_not_found'], what);
  }
  t.match((await poll()).json(), { user: { username: 'ada' } });
});

t.test('a code is confirmed by a sign-in only, of somebody with an account', async (t) => {
  const { service, ada, poll, confirm } = await aScene();
  const token = await anApiToken(service, ada);
  const guest = await aGuest(service);
  t.same(outcome(await confirm(null, 'approve')), [401, 'unauthorized']);
  t.same(outcome(await confirm(token, 'approve')), [403, 'login_token_required']);
  t.same(outcome(await confirm(guest, 'approve')), [403, 'account_required']);
  const cookie = await service.http.inject({
    method: 'POST',
    url: `${START}/approve`,
    cookies: { berth_refresh: ada.cookie },
    payload: { user_code: 'BCDF-GHJK' },
  });
  t.same(outcome(cookie), [401, 'unauthorized'], 'a cookie alone confirms nothing');
  t.same(outcome(await poll()), [400, 'authorization_pending']);
});

t.test('polling too fast is refused, and takes no answer away', async (t) => {
  const { service, ada, started, program, poll, confirm } = await aScene();
  t.same(outcome(await poll()), [400, 'authorization_pending']);
  await confirm(ada, 'approve');
  const fast = await program(`${START}/token`, { device_code: started.device_code });
  t.same([...outcome(fast), fast.headers['retry-after']], [429, 'slow_down', '2']);
  t.equal((await poll()).statusCode, 200);
  t.same(outcome(await program(`${START}/token`, { device_code: 'x'.repeat(43) })), [400, 'expired_token']);
  t.equal((await sessionsOf(service, ada)).length, 2);
});

t.test('a code ends after ten minutes, an approval after one', async (t) => {
  const { service, ada, poll, confirm } = await aScene();
  service.clock.advance(10 * MINUTE_MS);
  t.same(outcome(await confirm(ada, 'approve')), [404, 'device_code_not_found']);
  t.same(outcome(await poll()), [400, 'expired_token']);
  const second = await aScene();
  await second.confirm(second.ada, 'approve');
  second.service.clock.advance(59 * SECOND_MS);
  t.same(outcome(await second.poll()), [400, 'expired_token'], 'a stolen approval is soon worth nothing');
});

t.test('an approval ends with the session that gave it, with its lock, and with the account', async (t) => {
  const ends: Readonly<Record<string, (service: InTime, who: Bearer, id: string) => Promise<unknown>>> = {
    'sign out': (service, who) => as(service, who)('POST', '/api/auth/logout'),
    locked: async (service, who) => {
      await as(service, who)('PUT', '/api/me/lock', { passcode: '1234' });
      await as(service, who)('POST', '/api/sessions/lock');
    },
    disabled: async (service, _who, id) => {
      const root = await anAdmin(service);
      await as(service, root)('PATCH', `/api/admin/users/${id}`, { disabled: true });
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    const { service, ada, poll, confirm } = await aScene();
    const second = await again(service, ada, 'ada');
    t.equal((await confirm(second, 'approve')).statusCode, 200);
    await end(service, second, ada.id);
    t.same(outcome(await poll()), [403, 'access_denied'], name);
  }
});

t.test('guessing codes is slowed down, for the caller and the address', async (t) => {
  const { ada, user_code, confirm } = await aScene();
  for (let n = 0; n < 5; n += 1) {
    t.same(outcome(await confirm(ada, 'find', { user_code: 'BCDF-GHJK' })), [404, 'device_code_not_found']);
  }
  const slowed = await confirm(ada, 'find', { user_code });
  t.same(outcome(slowed), [429, 'rate_limited'], 'even the right one');
  t.match(slowed.headers, { 'retry-after': /^\d+$/ });
});

t.test('an address starts ten a minute, and keeps twenty waiting', async (t) => {
  const { service, program } = await aScene();
  const started: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    started.push((await program(START, { machine: 'x' })).statusCode);
    if (n % 10 === 9) service.clock.advance(MINUTE_MS);
  }
  t.equal(started.filter((status) => status === 201).length, 19);
  t.equal(
    (await from(service, { ip: '198.51.100.1' })(START, { machine: 'x' })).statusCode,
    201,
    'others may',
  );
  service.clock.advance(10 * MINUTE_MS);
  t.equal((await program(START, { machine: 'x' })).statusCode, 201, 'and it may again');
});

t.test('the addresses of one customer count as one', async (t) => {
  const { service } = await aScene();
  const started: number[] = [];
  for (let n = 0; n < 30; n += 1) {
    const ip = `2001:db8:0:1::${n + 1}`;
    started.push((await from(service, { ip })(START, { machine: 'x' })).statusCode);
    if (n % 10 === 9) service.clock.advance(MINUTE_MS);
  }
  t.equal(started.filter((status) => status === 201).length, 20);
  const another = from(service, { ip: '2001:db8:0:2::1' });
  t.equal((await another(START, { machine: 'x' })).statusCode, 201);
});

t.test('no code is stored, logged or recorded', async (t) => {
  const { service, ada, started, user_code, poll, confirm } = await aScene();
  await confirm(ada, 'approve');
  await poll();
  const state = stateOf(service);
  const stored = JSON.stringify(state, (_key, value) => (value instanceof Map ? [...value] : value));
  for (const code of [started.device_code, user_code, user_code.replace('-', '')]) {
    t.notOk(stored.includes(code));
  }
});
