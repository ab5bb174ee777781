import t from 'tap';
import { StorageBusy } from '../../src/ports/repositories.ts';
import { NOBODY } from '../support/database/stored.ts';
import { anAdmin, aPerson, aService, as, ORIGIN } from '../support/service/service.ts';

t.test('every 401 names the scheme, and whether a credential was sent', async (t) => {
  const service = await aService();
  const login = { method: 'POST', url: '/api/auth/login', payload: { email: 'x', password: 'x' } } as const;
  for (const request of [{ url: '/api/me' }, login, { method: 'POST', url: '/api/auth/refresh' } as const]) {
    const bare = await service.http.inject(request);
    t.same([bare.statusCode, bare.headers['www-authenticate']], [401, 'Bearer'], request.url);
  }
  for (const authorization of [
    'Bearer x',
    'Bearer a.b.c',
    'Basic YTpi',
    'x',
    `Bearer svc_${'0'.repeat(64)}`,
  ]) {
    const { statusCode, headers } = await service.http.inject({ url: '/api/me', headers: { authorization } });
    const told = [401, 'Bearer error="invalid_token"'];
    t.same([statusCode, headers['www-authenticate']], told, authorization);
  }
});

t.test('a credential is taken from the header alone', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const { token, cookie } = ada;
  for (const request of [
    { url: `/api/me?token=${token}` },
    { url: `/api/me?access_token=${token}` },
    { url: '/api/me', headers: { cookie: `berth_refresh=${cookie}` } },
    { url: '/api/me', headers: { cookie: `token=${token}` } },
    { url: '/api/me', headers: { 'x-access-token': token } },
    { url: '/api/me', headers: { 'sec-websocket-protocol': `berth.terminal.v1, bearer.${token}` } },
    { url: '/api/me', headers: { authorization: token } },
    { url: '/api/me', headers: { authorization: `Bearer ${token} x` } },
    { url: '/api/me', headers: { authorization: `Bearer ${token},Bearer ${token}` } },
  ]) {
    t.equal((await service.http.inject(request)).statusCode, 401, JSON.stringify(request));
  }
  const lower = await service.http.inject({ url: '/api/me', headers: { authorization: `bearer  ${token}` } });
  t.equal(lower.statusCode, 200, 'the scheme has no case');
});

t.test('a change from a foreign page is refused before anything is looked at; reading is not', async (t) => {
  const service = await aService();
  const call = as(service, await aPerson(service, 'ada'));
  for (const origin of [
    'https://evil.example',
    'null',
    `${ORIGIN}.evil.example`,
    'http://127.0.0.1',
    `${ORIGIN}/`,
    '',
  ]) {
    for (const [method, url] of [
      ['POST', '/api/auth/refresh'],
      ['PATCH', '/api/admin/settings'],
      ['DELETE', '/api/sessions/x'],
    ] as const) {
      const { statusCode, json } = await call(method, url, {}, { origin });
      t.same([statusCode, json().code], [403, 'origin_not_allowed'], `${origin} ${method} ${url}`);
    }
    const read = await call('GET', '/api/me', undefined, { origin });
    t.same([read.statusCode, read.headers['access-control-allow-origin']], [200, undefined]);
  }
  t.equal((await call('POST', '/api/sessions/revoke-others', {}, { origin: ORIGIN })).statusCode, 200);
});

t.test('whatever is wrong with a request, the answer has the same form', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const headers = { authorization: `Bearer ${root.token}` };
  const typed = (type: string, body: string) => ({
    ...{ method: 'POST', url: '/api/auth/login', body },
    headers: { ...headers, 'content-type': type },
  });
  const json = (body: string) => typed('application/json', body);
  const long = `/api/sessions/${'x'.repeat(200)}`;
  const cases: readonly (readonly [string, object, number, string])[] = [
    ['an unknown route', { url: '/api/nothing' }, 404, 'not_found'],
    ['an unknown file', { url: '/favicon.png' }, 404, 'not_found'],
    ['a wrong method', { ...json('{}'), method: 'PUT', url: '/api/sessions' }, 404, 'not_found'],
    ['broken JSON', json('{'), 400, 'bad_json'],
    ['poisoned JSON', json('{"__proto__":{"a":1}}'), 400, 'bad_json'],
    ['other poison', json('{"constructor":{"prototype":{}}}'), 400, 'bad_json'],
    ['another type', typed('text/xml', '<a/>'), 400, 'bad_content_type'],
    ['a form', typed('application/x-www-form-urlencoded', 'a=b'), 400, 'bad_content_type'],
    ['an array', json('[]'), 400, 'validation_failed'],
    ['too much', json(JSON.stringify({ email: 'x'.repeat(70_000) })), 413, 'body_too_large'],
    ['a bad address', { url: '/api/%E0%A4%A' }, 400, 'bad_url'],
    ['a long parameter', { method: 'DELETE', url: long, headers }, 404, 'not_found'],
    ['an unknown query', { url: '/api/audit?x=1', headers }, 400, 'validation_failed'],
  ];
  for (const [name, request, status, code] of cases) {
    const answer = await service.http.inject(request);
    t.equal(answer.statusCode, status, name);
    const body = answer.json();
    t.match(body, { error: /\S/, code }, name);
    t.same(Object.keys(body).slice(0, 2), ['error', 'code'], name);
    t.match(answer.headers['content-type'], /^application\/json/);
    t.notMatch(answer.body, /node_modules|\bat \w+ \(|Error:/, 'and nothing of the inside');
  }
});

t.test('every answer says that it is not to be kept or guessed at, and has an id of ours', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  for (const url of ['/api/me', '/api/nothing', '/livez', '/api/version', '/api/sessions']) {
    const answer = await as(service, ada)('GET', url, undefined, { 'x-request-id': 'mine' });
    t.equal(answer.headers['x-content-type-options'], 'nosniff', url);
    t.equal(answer.headers['cache-control'], 'no-store', url);
    t.match(answer.headers['x-request-id'], /^[0-9a-f-]{36}$/, url);
    t.match(answer.headers['content-security-policy'], /default-src 'none'/);
    t.equal(answer.headers['x-powered-by'], undefined);
  }
  t.same((await as(service, null)('GET', '/api/version')).json(), { name: 'berth', version: '0.0.0' });
});

t.test('a shortage of database connections is 503 with Retry-After on every route', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  const { repositories } = service.ports.storage;
  const busy = async (): Promise<never> => {
    throw new StorageBusy('no connection to the database was free in time');
  };
  for (const each of [repositories.sessions, repositories.tokens]) Object.assign(each, { listOwned: busy });
  Object.assign(repositories.containers, { findOwned: busy });
  for (const [method, url] of [
    ['GET', '/api/sessions'],
    ['GET', '/api/tokens'],
    ['POST', `/api/containers/${NOBODY}/start`],
    ['GET', `/api/containers/${NOBODY}/terminal`],
  ] as const) {
    const answer = await call(method, url);
    t.same(
      [answer.statusCode, answer.json().code, Number(answer.headers['retry-after']) > 0],
      [503, 'unavailable', true],
      `${method} ${url}`,
    );
  }
});
