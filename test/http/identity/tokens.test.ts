import { once } from 'node:events';
import { Agent, get as httpGet, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { fixedClock, memoryBusHub, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { StorageUnavailable } from '../../../src/ports/storage.ts';
import { anApiToken, aPerson, aService, as, type Bearer, person } from '../../support/service/service.ts';
import { listening } from '../../support/terminal/terminals.ts';
import { valuesOf } from '../../support/values.ts';

const BAD_TOKEN = { error: 'Invalid or expired API token', code: 'api_token_rejected' };

/** The service in memory, a signed-in user, and the rows. */
async function setUp() {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  const monotonicMs = () => clock.now().getTime();
  const service = await aService({ clock, storage, monotonicMs });
  const ada = await aPerson(service, 'ada');
  return { clock, storage, monotonicMs, service, ada, call: as(service, ada) };
}

t.test('a created token is shown once, in full, and stored nowhere', async (t) => {
  const { call, service, storage } = await setUp();
  const request = { name: ' ci ', scopes: ['read', 'read'], expires_in: 0.5 };
  const answer = await call('POST', '/api/tokens', request);
  t.equal(answer.statusCode, 201);
  t.equal(answer.headers['cache-control'], 'no-store');
  const { id, token, ...made } = answer.json();
  t.match([id, token], [/^[0-9a-f-]{36}$/, /^svc_[0-9a-f]{64}$/]);
  t.same(made, {
    token_prefix: token.slice(0, 12),
    name: 'ci',
    scopes: ['read'],
    created_at: '2026-01-01T00:00:00.000Z',
    expires_at: '2026-01-01T12:00:00.000Z',
  });
  const kept = JSON.stringify([...Object.values(storage.state)]);
  t.notMatch(kept, token.slice(12), 'nothing that is stored has the secret');
  t.match(kept, made.token_prefix);
  t.notMatch((await call('GET', '/api/tokens')).body, token.slice(12));
  t.equal((await as(service, { token })('GET', '/api/tokens/validate')).statusCode, 200);
});

t.test('a fault of a token request is 400 in its own words, and nothing is made', async (t) => {
  const { call, storage } = await setUp();
  const cases: [unknown, string][] = [
    [undefined, 'name is required'],
    [[], 'name is required'],
    [{ scopes: ['bogus'] }, 'name is required'],
    [{ name: 'ci', scopes: ['root'] }, 'scopes must be one or more of read, write and admin'],
    [{ name: 'ci', expires_in: 3651 }, 'expires_in must be above 0 and at most 3650'],
    ['{"name":"ci","expires_in":1e400}', 'expires_in must be above 0 and at most 3650'],
    [{ name: 'ci', token: 'svc_mine' }, 'token is not a known field'],
    [{ name: 'ci', lifeDays: 30 }, 'lifeDays is not a known field'],
    ['null', 'name is required'],
    ['"ci"', 'name is required'],
    [{ scopes: [], extra: 1 }, 'name is required'],
    [{ 0: 1, name: '' }, 'name is required'],
  ];
  for (const [body, error] of cases) {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await call('POST', '/api/tokens', body as object, headers);
    const received = [answer.statusCode, answer.json()];
    t.match(received, [400, { error, code: 'validation_failed' }], JSON.stringify(body));
  }
  const admin = await call('POST', '/api/tokens', { name: 'ci', scopes: ['admin'] });
  t.same([admin.statusCode, admin.json()], [403, { error: 'not authorized', code: 'not_authorized' }]);
  t.equal(storage.state.apiTokens.length, 0);
  t.notMatch(storage.state.audit, [{ action: 'token_created' }]);
});

t.test("a list has the user's own tokens in any state, newest first, with nulls and no secret", async (t) => {
  const { call, clock, service } = await setUp();
  const listed = async (who: Bearer) => (await as(service, who)('GET', '/api/tokens')).json().tokens;
  const ids: string[] = [];
  for (const name of ['first', 'second', 'third']) {
    ids.unshift((await call('POST', '/api/tokens', { name, expires_in: 1 })).json().id);
    clock.advance(1000);
  }
  await call('POST', `/api/tokens/${ids[1]}/revoke`);
  clock.advance(2 * 86_400_000);
  t.same(await listed(await aPerson(service, 'eve')), [], "another's are not in it");
  const { email, password } = person('ada');
  const again = await as(service, null)('POST', '/api/auth/login', { email, password });
  const tokens = await listed(again.json());
  t.same(valuesOf(tokens, 'id'), ids);
  const { token_prefix, created_at, expires_at, ...third } = tokens[0];
  t.match([token_prefix, created_at, expires_at], [String, String, String]);
  const lineage = { parent_id: null, containers: null, max_uses: null, uses_left: null };
  const state = { last_used_at: null, revoked_at: null, revoked_reason: null, ...lineage };
  t.same(third, { id: ids[0], name: 'third', scopes: ['read', 'write'], ...state });
  t.match(tokens[1], { name: 'second', revoked_at: '2026-01-01T00:00:03.000Z' });
});

t.test('a revoked or deleted token opens nothing, and a revocation is recorded once', async (t) => {
  const { call, clock, service, ada, storage } = await setUp();
  const token = await anApiToken(service, ada);
  const url = `/api/tokens/${token.id}`;
  const use = async () => (await as(service, token)('GET', '/api/me')).json();
  const details = JSON.stringify({ id: token.id, token_prefix: token.token.slice(0, 12) });
  t.match(await use(), { username: 'ada' });
  const answer = await call('POST', `${url}/revoke`);
  const revoked = { id: token.id, revoked: true, revoked_at: '2026-01-01T00:00:00.000Z' };
  t.same([answer.statusCode, answer.json()], [200, revoked]);
  t.same(await use(), BAD_TOKEN, 'the very next request');
  clock.advance(5000);
  const repeated = await call('POST', `/api/tokens/${token.id.toUpperCase()}/revoke`);
  t.same(repeated.json(), revoked, 'revoking it once more changes nothing');
  const records = storage.state.audit.filter(({ action }) => action === 'token_revoked');
  t.same([records.length, records[0]?.details], [1, details]);
  for (const { id, token: secret } of [token, await anApiToken(service, ada)]) {
    const deleted = await call('DELETE', `/api/tokens/${id}`);
    t.same([deleted.statusCode, deleted.json()], [200, { id, deleted: true }]);
    t.same((await as(service, { token: secret })('GET', '/api/me')).json(), BAD_TOKEN);
    t.equal((await call('DELETE', `/api/tokens/${id}`)).statusCode, 404);
  }
  t.same((await call('GET', '/api/tokens')).json(), { tokens: [] });
});

t.test('a token beyond its scope is refused in words that say so', async (t) => {
  const { service, ada } = await setUp();
  const use = as(service, await anApiToken(service, ada, { scopes: ['read'] }));
  const managing = await use('GET', '/api/tokens');
  const loginOnly = { error: 'login token required', code: 'login_token_required' };
  t.same([managing.statusCode, managing.json()], [403, loginOnly]);
  const writing = await use('POST', '/api/containers', { name: 'dev' });
  const tooLittle = { error: 'insufficient scope', code: 'insufficient_scope' };
  t.same([writing.statusCode, writing.json()], [403, tooLittle]);
  t.equal(writing.headers['www-authenticate'], 'Bearer error="insufficient_scope"');
});

t.test("validate returns an API token's rights and user", async (t) => {
  const { call, service, ada } = await setUp();
  const token = await anApiToken(service, ada, { scopes: ['write'] });
  t.same((await as(service, token)('GET', '/api/tokens/validate')).json(), {
    valid: true,
    scopes: ['write'],
    containers: null,
    uses_left: null,
    user: { id: ada.id, username: 'ada', email: 'ada@example.org', tier: 'free', role: 'user' },
  });
  const login = await call('GET', '/api/tokens/validate');
  t.same([login.statusCode, login.json()], [401, BAD_TOKEN], 'a login token is like a bad API token');
  t.equal(login.headers['www-authenticate'], 'Bearer error="invalid_token"');
  const nobody = await as(service, null)('GET', '/api/tokens/validate');
  const unauthorized = { error: 'unauthorized', code: 'unauthorized' };
  t.same(
    [nobody.statusCode, nobody.json(), nobody.headers['www-authenticate']],
    [401, unauthorized, 'Bearer'],
  );
});

t.test('the four failures of an API token are one answer, byte for byte, on every route', async (t) => {
  const { call, clock, service, ada } = await setUp();
  const revoked = await anApiToken(service, ada);
  const deleted = await anApiToken(service, ada);
  const expired = await anApiToken(service, ada, { expires_in: 1 / 86_400 });
  for (const token of [revoked, deleted, expired]) {
    t.equal((await as(service, token)('GET', '/api/me')).statusCode, 200, 'it was good, and is remembered');
  }
  await call('POST', `/api/tokens/${revoked.id}/revoke`);
  await call('DELETE', `/api/tokens/${deleted.id}`);
  clock.advance(1000);
  const bad = [
    revoked.token,
    expired.token,
    deleted.token,
    `svc_${'0'.repeat(64)}`,
    'svc_',
    `${revoked.token}0`,
    revoked.token.toUpperCase().replace('SVC', 'svc'),
    'svc_zz zz, svc_zz',
  ];
  for (const path of ['tokens/validate', 'me', 'containers', 'tokens', 'admin/settings']) {
    const url = `/api/${path}`;
    const answers = await Promise.all(bad.map((text) => as(service, { token: text })('GET', url)));
    for (const answer of answers) t.same(bare(answer), bare(answers[0]), url);
    t.match(answers[0], { statusCode: 401, body: JSON.stringify(BAD_TOKEN) });
    t.equal(answers[0]?.headers['www-authenticate'], 'Bearer error="invalid_token"');
  }
});

t.test('an impossible token is refused without asking the database', async (t) => {
  const { service, storage } = await setUp();
  let asked = 0;
  const { findWithUser } = storage.repositories.tokens;
  storage.repositories.tokens.findWithUser = (hashes) => {
    asked += 1;
    return findWithUser(hashes);
  };
  for (const text of ['svc_', 'svc_0', `svc_${'A'.repeat(64)}`, `svc_${'0'.repeat(65)}`]) {
    await as(service, { token: text })('GET', '/api/me');
  }
  t.equal(asked, 0);
  await as(service, { token: `svc_${'0'.repeat(64)}` })('GET', '/api/me');
  t.equal(asked, 1);
});

t.test("a disabled or deleted user's token opens nothing", async (t) => {
  const { clock, service, ada, storage } = await setUp();
  const use = as(service, await anApiToken(service, ada));
  const { users } = storage.state;
  t.equal((await use('GET', '/api/me')).statusCode, 200);
  for (const left of [users.map((user) => ({ ...user, disabledAt: new Date(0) })), []]) {
    storage.state.users = left;
    clock.advance(1000);
    t.same((await use('GET', '/api/me')).json(), BAD_TOKEN);
  }
  storage.state.users = users;
  t.equal((await use('GET', '/api/me')).statusCode, 200);
});

t.test('the first use is written before its answer, later ones when due; the list has all', async (t) => {
  const { call, clock, service, ada, storage } = await setUp();
  const use = as(service, await anApiToken(service, ada, { scopes: ['read'] }));
  const uses = async () => {
    const [written, listed] = [
      storage.state.apiTokens[0]?.lastUsedAt,
      (await call('GET', '/api/tokens')).json(),
    ];
    return [written?.toISOString() ?? null, listed.tokens[0].last_used_at];
  };
  t.same(await uses(), [null, null]);
  await Promise.all([use('GET', '/api/me'), use('GET', '/api/me')]);
  t.same(await uses(), ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z']);
  clock.advance(10_000);
  await use('POST', '/api/containers');
  await service.writeDue();
  t.same(await uses(), ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:10.000Z']);
  clock.advance(50_000);
  await service.writeDue();
  t.same(await uses(), ['2026-01-01T00:00:10.000Z', '2026-01-01T00:00:10.000Z']);
  clock.advance(1);
  await use('GET', '/api/me');
  await service.flush();
  t.equal((await uses())[0], '2026-01-01T00:01:00.001Z', 'and what is left at the end');
});

t.test('a refused request is no use', async (t) => {
  const { call, clock, service, ada, storage } = await setUp();
  const token = await anApiToken(service, ada, { expires_in: 1 / 86_400 });
  await call('POST', `/api/tokens/${token.id}/revoke`);
  await as(service, token)('GET', '/api/me');
  const expired = await anApiToken(service, ada, { expires_in: 1 / 86_400 });
  clock.advance(1000);
  await as(service, expired)('GET', '/api/me');
  await service.flush();
  t.match(storage.state.apiTokens, [{ lastUsedAt: null }, { lastUsedAt: null }]);
});

t.test("a failing creation is 500 in the interface's words, and leaves nothing", async (t) => {
  const { call, storage } = await setUp();
  for (const fault of [new Error('disk on fire'), new StorageUnavailable('no answer')]) {
    const { append } = storage.repositories.audit;
    storage.repositories.audit.append = async () => {
      throw fault;
    };
    const answer = await call('POST', '/api/tokens', { name: 'ci' });
    t.same(
      [answer.statusCode, answer.json()],
      [500, { error: 'failed to create token', code: 'internal_error' }],
    );
    storage.repositories.audit.append = append;
    t.equal(storage.state.apiTokens.length, 0, 'token and record are one');
  }
});

t.test('while changes may go unheard no token is cached', async (t) => {
  const { clock, storage, monotonicMs, ada } = await setUp();
  const hub = memoryBusHub();
  const [near, far] = [hub.join(), hub.join()];
  const here = await aService({ clock, storage, monotonicMs, bus: near });
  const there = await aService({ clock, storage, monotonicMs, bus: far });
  const token = await anApiToken(here, ada);
  const status = async () => (await as(there, token)('GET', '/api/me')).statusCode;
  t.equal(await status(), 200);
  far.cut();
  await as(here, ada)('POST', `/api/tokens/${token.id}/revoke`);
  t.equal(await status(), 401, 'the line is down, so the database was asked');
  far.reconnect();
  t.equal(await status(), 401);
});

/** Everything that distinguishes an answer for a client. */
function bare(answer: Awaited<ReturnType<ReturnType<typeof as>>> | undefined) {
  const { date: _date, 'x-request-id': _id, ...headers } = answer?.headers ?? {};
  return { status: answer?.statusCode, headers, body: answer?.body };
}

t.test('each request of a connection is judged by its own token, until that is revoked', async (t) => {
  const service = await aService();
  const address = (await listening(t, service)).replace('ws', 'http');
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const [first, second] = [await anApiToken(service, ada), await anApiToken(service, bob)];
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = async ({ token }: Bearer): Promise<string> => {
    const request = httpGet(`${address}/api/me`, { agent, headers: { authorization: `Bearer ${token}` } });
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const body = await text(answer);
    return answer.statusCode === 200 ? JSON.parse(body).username : `${answer.statusCode}`;
  };
  t.same(
    [await ask(first), await ask(first), await ask(second), await ask(first)],
    ['ada', 'ada', 'bob', 'ada'],
  );
  await as(service, ada)('POST', `/api/tokens/${first.id}/revoke`);
  t.same([await ask(first), await ask(second), await ask(first)], ['401', 'bob', '401']);
});
