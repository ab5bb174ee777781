import t from 'tap';
import { actions, aServiceInTime, type From, from, type InTime } from '../../support/service/factors.ts';
import { again, anAdmin, aPerson, as, type Person, person } from '../../support/service/service.ts';

const HERE: From = { ip: '198.51.100.9', userAgent: 'browser' };

const refresh = (service: InTime, cookie: string, where: From = HERE) =>
  from(service, { ...where, cookie })('/api/auth/refresh');

const cookieOf = (answer: { cookies: { name: string; value: string }[] }): string =>
  answer.cookies.find(({ name }) => name === 'berth_refresh')?.value ?? '';

const alive = async (service: InTime, who: Person): Promise<boolean> =>
  (await as(service, who)('GET', '/api/me')).statusCode === 200;

/** Ada, and `next`, the cookie that hers is exchanged for. */
async function aScene() {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const next = async (cookie: string) => cookieOf(await refresh(service, cookie));
  return { service, ada, next };
}

t.test('a refresh rotates: a new login token, a new refresh token, the same session', async (t) => {
  const { service, ada } = await aScene();
  const answer = await refresh(service, ada.cookie);
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), { token: String, expires_at: String, session_id: String, user: { id: ada.id } });
  t.not(cookieOf(answer), ada.cookie);
  t.equal((await refresh(service, cookieOf(answer))).statusCode, 200);
});

t.test('the same client may repeat a refresh for ten seconds, at every step', async (t) => {
  const { service, ada, next } = await aScene();
  let { cookie } = ada;
  for (const step of [1, 2, 3]) {
    const lost = await next(cookie);
    service.clock.advance(10_000);
    const again = await refresh(service, cookie);
    t.same([again.statusCode, cookieOf(again)], [200, lost], `step ${step}`);
    cookie = lost;
  }
  t.ok(await alive(service, ada));
});

t.test('a repeat gets the newest token, even when its successor was used since', async (t) => {
  const { service, ada, next } = await aScene();
  const second = await next(ada.cookie);
  service.clock.advance(4_000);
  const third = await next(second);
  service.clock.advance(4_000);
  const late = await refresh(service, ada.cookie);
  t.same([late.statusCode, cookieOf(late)], [200, third], 'another tab was slower');
  service.clock.advance(60_000);
  t.equal((await refresh(service, third)).statusCode, 200, 'and it is good');
});

t.test('of two refresh cookies none is accepted: another site of the domain may have set one', async (t) => {
  const service = await aServiceInTime();
  const [ada, eve] = [await aPerson(service, 'ada'), await aPerson(service, 'eve')];
  const [hers, other] = [`berth_refresh=${ada.cookie}`, `berth_refresh=${eve.cookie}`];
  const send = (cookie: string) =>
    service.http.inject({ method: 'POST', url: '/api/auth/refresh', headers: { cookie } });
  for (const cookie of [
    `${other}; ${hers}`,
    `${hers}; ${other}`,
    `${hers}; x=1;${hers}`,
    `${other}; berth_refresh=`,
  ]) {
    const answer = await send(cookie);
    t.same([answer.statusCode, answer.json().code], [401, 'unauthorized'], cookie);
    t.match(answer.cookies, [{ name: 'berth_refresh', value: '', path: '/api/auth', expires: new Date(0) }]);
  }
  t.equal(
    (await send(`theme=dark; ${hers}; not_berth_refresh=2`)).statusCode,
    200,
    'nothing of it was spent',
  );
  t.ok(await alive(service, eve));
});

t.test('a used token from another client, or later, ends the session and is recorded', async (t) => {
  for (const [name, where, ms] of [
    ['another address', { ...HERE, ip: '203.0.113.7' }, 0],
    ['another program', { ...HERE, userAgent: 'curl' }, 0],
    ['after eleven seconds', HERE, 11_000],
  ] as const) {
    const { service, ada, next: rotate } = await aScene();
    const next = await rotate(ada.cookie);
    service.clock.advance(ms);
    const reused = await refresh(service, ada.cookie, where);
    t.same([reused.statusCode, reused.json().error], [401, 'unauthorized'], name);
    t.notOk(await alive(service, ada), 'the session is over');
    t.equal((await refresh(service, next)).statusCode, 401, 'and so is the token that followed');
    t.equal(actions(service).at(-1), 'session_revoked');
  }
});

t.test('nothing is refreshed without a token, with an unknown one, or after the end', async (t) => {
  const { service, ada } = await aScene();
  for (const cookie of ['', 'x', 'a'.repeat(43), 'a'.repeat(500), ada.token]) {
    t.equal((await refresh(service, cookie)).statusCode, 401, cookie.slice(0, 8));
  }
  t.equal((await from(service)('/api/auth/refresh')).statusCode, 401, 'none');
  await as(service, ada)('POST', '/api/auth/logout');
  t.equal((await refresh(service, ada.cookie)).statusCode, 401, 'signed out');
  const bob = await aPerson(service, 'bob');
  service.clock.advance(25 * 3_600_000);
  t.equal((await refresh(service, bob.cookie)).statusCode, 401, 'idle for too long');
  const eve = await aPerson(service, 'eve');
  await service.ports.storage.repositories.users.change(eve.id, { disabled: true });
  t.equal((await refresh(service, eve.cookie)).statusCode, 401, 'disabled');
});

/** The reason for a session's end, and its cause. */
const ENDS: readonly (readonly [string, string, (service: InTime, ada: Person) => Promise<unknown>])[] = [
  ['revoked', 'in another browser', (service, ada) => revokeAll(service, ada, {})],
  ['revoked', 'with words of its own', (service, ada) => revokeAll(service, ada, { reason: 'lost laptop' })],
  ['logged_out', 'signed out', (service, ada) => as(service, ada)('POST', '/api/auth/logout')],
  ['expired', 'idle for too long', async (service) => service.clock.advance(25 * 3_600_000)],
  [
    'user_disabled',
    'disabled by an administrator',
    async (service, ada) => {
      const root = as(service, await anAdmin(service));
      for (const disabled of [true, false]) await root('PATCH', `/api/admin/users/${ada.id}`, { disabled });
    },
  ],
  [
    'password_changed',
    'a new password elsewhere',
    async (service, ada) => {
      const there = await again(service, ada, 'ada');
      const body = { old_password: person('ada').password, new_password: 'another horse battery' };
      await as(service, there)('POST', '/api/me/password', body);
    },
  ],
  [
    'refresh_token_reused',
    'a token that was used twice',
    async (service, ada) => {
      await refresh(service, ada.cookie);
      await refresh(service, ada.cookie, { ...HERE, userAgent: 'curl' });
    },
  ],
];

t.test("an ended session's client learns why, an unknown token nothing", async (t) => {
  const refused = { error: 'unauthorized', code: 'unauthorized' };
  for (const [reason, name, end] of ENDS) {
    const { service, ada } = await aScene();
    await end(service, ada);
    const answer = await refresh(service, ada.cookie);
    t.same([answer.statusCode, answer.json()], [401, { ...refused, reason }], name);
    t.same((await refresh(service, 'a'.repeat(43))).json(), refused);
  }
});

/** Ends all of this user's sessions from another one. */
async function revokeAll(service: InTime, who: Person, given: object): Promise<void> {
  await as(service, await again(service, who, 'ada'))('POST', '/api/sessions/revoke-others', given);
}

t.test('a refresh is no use: an idle session stays idle', async (t) => {
  const { service, ada } = await aScene();
  const call = as(service, ada);
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('PATCH', '/api/me', { auto_lock_minutes: 10 });
  service.clock.advance(10 * 60_000);
  const renewed = await refresh(service, ada.cookie);
  const { token } = renewed.json();
  t.equal((await as(service, { ...ada, token })('GET', '/api/containers')).statusCode, 423);
});
