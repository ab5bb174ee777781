import { randomUUID } from 'node:crypto';
import t from 'tap';
import { REVOKED_FOR } from '../../src/domain/session.ts';
import { anAdmin, aPerson, aService, as } from '../support/service.ts';
import {
  again,
  auditOf,
  type Listed,
  refresh,
  sessionIdOf,
  sessionsOf,
  statusOf,
} from '../support/sign-ins.ts';

t.test('the list has every session, newest first, with the one that asks marked', async (t) => {
  const service = await aService();
  const first = await aPerson(service, 'ada');
  service.clock.advance(60_000);
  const second = await again(service, first, 'ada');
  await aPerson(service, 'eve');
  const answer = await as(service, second)('GET', '/api/sessions', undefined);
  t.equal(answer.statusCode, 200);
  const { sessions } = answer.json();
  t.same(
    sessions.map(({ is_current, created_at }: Listed) => [created_at, is_current]),
    [
      ['2026-01-01T00:01:00.000Z', true],
      ['2026-01-01T00:00:00.000Z', false],
    ],
  );
  t.same(Object.keys(sessions[0]), [
    'id',
    'created_at',
    'last_seen_at',
    'ip_address',
    'user_agent',
    'revoked_at',
    'revoked_reason',
    'is_current',
  ]);
  t.match(sessions[0], { ip_address: '127.0.0.1', revoked_at: null, revoked_reason: null });
  t.equal((await sessionsOf(service, first)).filter(({ is_current }) => is_current).length, 1);
});

t.test('a revoked session is out with the next request, and its refresh token with it', async (t) => {
  const service = await aService();
  const first = await aPerson(service, 'ada');
  const second = await again(service, first, 'ada');
  const id = await sessionIdOf(service, first);
  const answer = await as(service, second)('DELETE', `/api/sessions/${id}`);
  t.same([answer.statusCode, answer.body], [200, '{"revoked":true}']);
  const refused = await as(service, first)('GET', '/api/me');
  t.same([refused.statusCode, refused.json().error], [401, 'unauthorized']);
  t.equal((await refresh(service, first)).statusCode, 401);
  t.equal(await statusOf(service, second), 200);
  const [current, revoked] = await sessionsOf(service, second);
  t.match(current, { is_current: true, revoked_at: null });
  t.match(revoked, { id, revoked_at: '2026-01-01T00:00:00.000Z', revoked_reason: 'revoked_by_user' });
  t.match(auditOf(service, 'session_revoked'), [{ userId: first.id, details: id, ipAddress: '127.0.0.1' }]);
});

t.test('the reason is stored; it is text of at most 200 characters, and may be left out', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const revoke = async (body: string | undefined, headers: Record<string, string> = {}) => {
    const victim = await again(service, ada, 'ada');
    const url = `/api/sessions/${await sessionIdOf(service, victim)}`;
    const answer = await service.http.inject({
      method: 'DELETE',
      url,
      headers: { authorization: `Bearer ${ada.token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const [found] = (await sessionsOf(service, ada)).filter(({ id }) => url.endsWith(id));
    return [answer.statusCode, found?.['revoked_reason']];
  };
  const json = { 'content-type': 'application/json' };
  const byUser = 'revoked_by_user';
  t.same(await revoke(undefined), [200, byUser]);
  t.same(await revoke(undefined, json), [200, byUser], 'an empty body that says it is JSON');
  t.same(await revoke('', json), [200, byUser]);
  t.same(await revoke('{}', json), [200, byUser]);
  t.same(await revoke('{"reason":""}', json), [200, byUser]);
  t.same(await revoke('{"reason":"lost laptop 🚢"}', json), [200, 'lost laptop 🚢']);
  t.same(await revoke(JSON.stringify({ reason: 'x'.repeat(200) }), json), [200, 'x'.repeat(200)]);
  for (const body of [
    JSON.stringify({ reason: 'x'.repeat(201) }),
    '{"reason":1}',
    '{"reason":null}',
    '{"reason":["a"]}',
    '{"reason":"a\\u0000b"}',
    '{"why":"a"}',
    '{"reason":"a","user_id":"b"}',
    '[]',
    '"reason"',
    '{',
  ]) {
    t.same(await revoke(body, json), [400, null], body);
  }
});

t.test('unknown, foreign, revoked and malformed ids are one answer, byte for byte', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const eve = await aPerson(service, 'eve');
  const root = await anAdmin(service);
  const gone = await again(service, ada, 'ada');
  const goneId = await sessionIdOf(service, gone);
  await as(service, ada)('DELETE', `/api/sessions/${goneId}`);
  const foreign = await sessionIdOf(service, eve);
  const ids = [
    foreign,
    goneId,
    randomUUID(),
    'x',
    '%00',
    `${goneId}x`,
    "'; drop table sessions; --",
    '__proto__',
    'a'.repeat(128),
  ];
  for (const who of [ada, root]) {
    const own = await sessionIdOf(service, who);
    for (const id of ids) {
      const answer = await as(service, who)('DELETE', `/api/sessions/${encodeURIComponent(id)}`);
      const { date: _d, 'x-request-id': _r, ...headers } = answer.headers;
      t.same(
        [answer.statusCode, answer.body, headers['content-length']],
        [404, '{"error":"session not found","code":"session_not_found"}', '56'],
        id,
      );
    }
    t.equal(await sessionIdOf(service, who), own);
  }
  t.equal(await statusOf(service, eve), 200);
  t.equal(auditOf(service, 'session_revoked').length, 1);
});

t.test('the current session may be revoked, in any spelling of its id', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const id = (await sessionIdOf(service, ada)).toUpperCase();
  t.equal((await as(service, ada)('DELETE', `/api/sessions/${id}`)).statusCode, 200);
  t.equal(await statusOf(service, ada), 401);
});

t.test('revoke-others ends all but the one that asks, and says how many', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const others = [await again(service, ada, 'ada'), await again(service, ada, 'ada')];
  const eve = await aPerson(service, 'eve');
  const answer = await as(service, ada)('POST', '/api/sessions/revoke-others');
  t.same([answer.statusCode, answer.body], [200, '{"revoked":true,"count":2}']);
  t.same(await Promise.all([ada, eve, ...others].map((one) => statusOf(service, one))), [200, 200, 401, 401]);
  const reasons = (await sessionsOf(service, ada)).map((one) => one['revoked_reason']);
  t.same(reasons, ['revoked_other_sessions', 'revoked_other_sessions', null]);
  t.match(auditOf(service, 'sessions_revoked_others'), [
    { userId: ada.id, details: await sessionIdOf(service, ada) },
  ]);
  const repeated = await as(service, ada)('POST', '/api/sessions/revoke-others', { reason: 'again' });
  t.same(repeated.json(), { revoked: true, count: 0 });
  await again(service, ada, 'ada');
  await as(service, ada)('POST', '/api/sessions/revoke-others', { reason: 'holiday' });
  t.equal((await sessionsOf(service, ada))[0]?.['revoked_reason'], 'holiday');
  t.equal((await as(service, ada)('POST', '/api/sessions/revoke-others', { reason: 1 })).statusCode, 400);
});

t.test('an API token may not touch sessions, whatever its scopes', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const made = await as(service, root)('POST', '/api/tokens', { name: 'ci', scopes: ['admin'] });
  const token = { ...root, token: made.json().token };
  const id = await sessionIdOf(service, root);
  for (const [method, url] of [
    ['GET', '/api/sessions'],
    ['DELETE', `/api/sessions/${id}`],
    ['POST', '/api/sessions/revoke-others'],
  ] as const) {
    const answer = await as(service, token)(method, url);
    t.same([answer.statusCode, answer.json().error], [403, 'login token required'], method);
  }
  t.equal(await statusOf(service, root), 200);
});

t.test('the reasons of the service are its own; every other text may be given', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const other = await again(service, ada, 'ada');
  const call = as(service, ada);
  const id = await sessionIdOf(service, other);
  const revocations = [
    (reason: string) => call('DELETE', `/api/sessions/${id}`, { reason }),
    (reason: string) => call('POST', '/api/sessions/revoke-others', { reason }),
  ];
  for (const revoke of revocations) {
    for (const reason of Object.values(REVOKED_FOR)) {
      const answer = await revoke(reason);
      t.match(
        [answer.statusCode, answer.json()],
        [400, { code: 'validation_failed', fields: { reason: /own/ } }],
        reason,
      );
    }
  }
  t.equal(await statusOf(service, other), 200, 'nothing was revoked');
  for (const revoke of revocations) {
    for (const reason of ['revoked_by_user', 'revoked_other_sessions', 'User_Disabled', 'user_disabled?']) {
      const { statusCode } = await revoke(reason);
      t.ok(statusCode === 200 || statusCode === 404, reason);
    }
  }
  t.equal(await statusOf(service, other), 401);
});
