import t from 'tap';
import { fixedClock, memoryPorts } from '../../../src/adapters/memory/index.ts';
import { REVOKED_FOR } from '../../../src/domain/identity/session.ts';
import { StorageUnavailable } from '../../../src/ports/storage.ts';
import {
  again,
  aPerson,
  aService,
  as,
  auditOf,
  outcome,
  type Person,
  person,
  refresh,
  sessionIdOf,
  sessionsOf,
  statusOf,
  type TestService,
} from '../../support/service/service.ts';

/** Ada, and `call` as hers. */
async function aScene() {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  return { service, ada, call: as(service, ada) };
}

t.test("the list has every session, newest first, with the caller's marked", async (t) => {
  const { service, ada: first } = await aScene();
  service.clock.advance(60_000);
  const second = await again(service, first, 'ada');
  await aPerson(service, 'eve');
  const sessions = await sessionsOf(service, second);
  const one = { last_seen_at: String, ip_address: '127.0.0.1', revoked_at: null, revoked_reason: null };
  t.match(sessions, [
    { ...one, created_at: '2026-01-01T00:01:00.000Z', is_current: true },
    { ...one, created_at: '2026-01-01T00:00:00.000Z', is_current: false },
  ]);
  t.equal(sessions.length, 2);
  const fields = 'created_at id ip_address is_current last_seen_at revoked_at revoked_reason user_agent';
  t.same(Object.keys(sessions[0] ?? {}).sort(), fields.split(' '));
  t.equal((await sessionsOf(service, first)).filter(({ is_current }) => is_current).length, 1);
});

t.test('a revoked session is refused at its next request, like its refresh token', async (t) => {
  const { service, ada, call } = await aScene();
  const other = await again(service, ada, 'ada');
  const id = await sessionIdOf(service, other);
  const answer = await call('DELETE', `/api/sessions/${id}`);
  t.same([answer.statusCode, answer.body], [200, '{"revoked":true}']);
  const refused = await as(service, other)('GET', '/api/me');
  t.same([refused.statusCode, refused.json().error], [401, 'unauthorized']);
  t.equal((await refresh(service, other)).statusCode, 401);
  const revoked = { id, revoked_at: '2026-01-01T00:00:00.000Z', revoked_reason: 'revoked_by_user' };
  const listed = await sessionsOf(service, ada);
  t.match(
    listed.find((one) => one.id === id),
    revoked,
  );
  t.match(
    listed.find(({ is_current }) => is_current),
    { revoked_at: null },
  );
  t.same(outcome(await call('DELETE', `/api/sessions/${id}`)), [404, 'session_not_found'], 'it ended once');
  t.match(auditOf(service, 'session_revoked'), [{ userId: ada.id, details: id, ipAddress: '127.0.0.1' }]);
  const own = (await sessionIdOf(service, ada)).toUpperCase();
  t.equal((await call('DELETE', `/api/sessions/${own}`)).statusCode, 200, 'the current one, in any spelling');
  t.equal(await statusOf(service, ada), 401);
});

t.test('the reason is stored; it is optional text of at most 200 characters', async (t) => {
  const { service, ada, call } = await aScene();
  const json = { 'content-type': 'application/json' };
  const revoke = async (body: string | undefined, headers: Record<string, string> = json) => {
    const id = await sessionIdOf(service, await again(service, ada, 'ada'));
    const answer = await call('DELETE', `/api/sessions/${id}`, body as unknown as object, headers);
    const found = (await sessionsOf(service, ada)).find((one) => one.id === id);
    return [answer.statusCode, found?.['revoked_reason']];
  };
  t.same(await revoke(undefined, {}), [200, 'revoked_by_user']);
  for (const body of [undefined, '', '{}', '{"reason":""}'])
    t.same(await revoke(body), [200, 'revoked_by_user'], `${body}`);
  for (const reason of ['lost laptop 🚢', 'x'.repeat(200)])
    t.same(await revoke(JSON.stringify({ reason })), [200, reason]);
  for (const body of [
    JSON.stringify({ reason: 'x'.repeat(201) }),
    '{"reason":1}',
    '{"reason":null}',
    '{"reason":["a"]}',
    '{"reason":"a\\u0000b"}',
    '{"why":"a"}',
    '{"reason":"a","user_id":"b"}',
    '[]',
    '{',
  ]) {
    t.same(await revoke(body), [400, null], body);
  }
});

t.test("revoke-others ends all but the caller's, and returns the number", async (t) => {
  const { service, ada, call } = await aScene();
  const others = [await again(service, ada, 'ada'), await again(service, ada, 'ada')];
  const eve = await aPerson(service, 'eve');
  const answer = await call('POST', '/api/sessions/revoke-others');
  t.same([answer.statusCode, answer.body], [200, '{"revoked":true,"count":2}']);
  t.same(await Promise.all([ada, eve, ...others].map((one) => statusOf(service, one))), [200, 200, 401, 401]);
  const reasons = (await sessionsOf(service, ada)).map((one) => one['revoked_reason']);
  t.same(reasons, ['revoked_other_sessions', 'revoked_other_sessions', null]);
  t.match(auditOf(service, 'sessions_revoked_others'), [
    { userId: ada.id, details: await sessionIdOf(service, ada) },
  ]);
  const repeated = await call('POST', '/api/sessions/revoke-others', { reason: 'again' });
  t.same(repeated.json(), { revoked: true, count: 0 });
  await again(service, ada, 'ada');
  await call('POST', '/api/sessions/revoke-others', { reason: 'holiday' });
  t.equal((await sessionsOf(service, ada))[0]?.['revoked_reason'], 'holiday');
  t.equal((await call('POST', '/api/sessions/revoke-others', { reason: 1 })).statusCode, 400);
});

t.test("the service's reasons are reserved; any other text may be given", async (t) => {
  const { service, ada, call } = await aScene();
  const other = await again(service, ada, 'ada');
  const id = await sessionIdOf(service, other);
  const revocations = [
    (reason: string) => call('DELETE', `/api/sessions/${id}`, { reason }),
    (reason: string) => call('POST', '/api/sessions/revoke-others', { reason }),
  ];
  for (const revoke of revocations) {
    for (const reason of Object.values(REVOKED_FOR)) {
      const answer = await revoke(reason);
      const received = [400, { code: 'validation_failed', fields: { reason: /own/ } }];
      t.match([answer.statusCode, answer.json()], received, reason);
    }
  }
  t.equal(await statusOf(service, other), 200, 'nothing was revoked');
  for (const revoke of revocations) {
    for (const reason of ['revoked_by_user', 'revoked_other_sessions', 'User_Disabled', 'user_disabled?'])
      t.ok([200, 404].includes((await revoke(reason)).statusCode), reason);
  }
  t.equal(await statusOf(service, other), 401);
});

t.test('an expired session is neither listed nor counted, and ends all the same', async (t) => {
  const { service, ada } = await aScene();
  await service.ports.storage.repositories.settings.change({ sessionIdleMinutes: 30 });
  service.clock.advance(29 * 60_000);
  const idle = await again(service, ada, 'ada');
  service.clock.advance(29 * 60_000);
  const now = await again(service, ada, 'ada');
  t.equal((await sessionsOf(service, now)).length, 2, 'the first one was idle for too long');
  t.same((await as(service, now)('POST', '/api/sessions/revoke-others')).json(), { revoked: true, count: 1 });
  t.equal((await sessionsOf(service, now)).length, 2);
  await service.ports.storage.repositories.settings.change({ sessionIdleMinutes: 1440 });
  t.same(await Promise.all([ada, idle].map((one) => statusOf(service, one))), [401, 401], 'no way back');
});

t.test('a failing list answers in its own words', async (t) => {
  const { service, call } = await aScene();
  for (const fault of [
    new StorageUnavailable('no answer'),
    new Error('relation "sessions" does not exist'),
  ]) {
    Object.assign(service.ports.storage.repositories.sessions, { listOwned: () => Promise.reject(fault) });
    const answer = await call('GET', '/api/sessions');
    t.same([answer.statusCode, answer.json().error], [500, 'failed to list sessions']);
  }
});

t.test('without its audit record no session is revoked', async (t) => {
  const { service, ada, call } = await aScene();
  const other = await again(service, ada, 'ada');
  const { audit } = service.ports.storage.repositories;
  const { append } = audit;
  Object.assign(audit, { append: () => Promise.reject(new Error('disk full')) });
  const one = await call('DELETE', `/api/sessions/${await sessionIdOf(service, other)}`);
  t.same([one.statusCode, one.json().error], [500, 'failed to revoke session']);
  const all = await call('POST', '/api/sessions/revoke-others');
  t.same([all.statusCode, all.json().error], [500, 'failed to revoke sessions']);
  Object.assign(audit, { append });
  t.equal(await statusOf(service, other), 200);
  t.notOk((await sessionsOf(service, ada)).some((session) => session['revoked_at'] !== null));
});

/** The listed address and program of a sign-in with these headers. */
async function listedAs(service: TestService, ada: Person, headers: Record<string, string>) {
  const { email, password } = person('ada');
  const made = await as(service, null)('POST', '/api/auth/login', { email, password }, headers);
  const sessions = await sessionsOf(service, { ...ada, token: made.json().token });
  const session = sessions.find(({ is_current }) => is_current);
  return [session?.['ip_address'], session?.['user_agent']];
}

t.test('the address comes from a header only behind a trusted proxy; the agent is truncated', async (t) => {
  const agent = `evil\u001b[31m\u0007${'x'.repeat(600)}`;
  const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': agent };
  for (const [trustProxy, expected] of [
    [[], '127.0.0.1'],
    [['10.0.0.0/8'], '127.0.0.1'],
    [['127.0.0.1'], '203.0.113.9'],
  ] as const) {
    const service = await aService({}, { trustProxy });
    const ada = await aPerson(service, 'ada');
    t.same(await listedAs(service, ada, headers), [expected, `evil[31m${'x'.repeat(504)}`]);
  }
});

t.test("a proxy's address is valid and without a port, or else the proxy's own is used", async (t) => {
  const service = await aService({}, { trustProxy: ['127.0.0.1'] });
  const ada = await aPerson(service, 'ada');
  for (const [given, expected] of [
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8::1]:51234', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.9, 127.0.0.1', '203.0.113.9'],
    ['unknown', '127.0.0.1'],
    ['999.1.1.1:1', '127.0.0.1'],
    ['x'.repeat(9_000), '127.0.0.1'],
  ] as const) {
    const [address] = await listedAs(service, ada, { 'x-forwarded-for': given });
    t.equal(address, expected, given.slice(0, 30));
  }
});

t.test('the list has the last use even before it is written', async (t) => {
  const clock = fixedClock();
  const service = await aService({ ...memoryPorts(clock), monotonicMs: () => clock.now().getTime() });
  const ada = await aPerson(service, 'ada');
  clock.advance(30_000);
  t.equal((await sessionsOf(service, ada))[0]?.['last_seen_at'], '2026-01-01T00:00:30.000Z');
});
