import { inspect } from 'node:util';
import { type TSchema, Type } from '@sinclair/typebox';
import t from 'tap';
import { Nullable, OneOf, Timestamp } from '../../src/adapters/http/schema/common.ts';
import { plainAlternatives } from '../../src/adapters/http/schema/plain-alternatives.ts';
import { compilers } from '../../src/adapters/http/schema-compilers.ts';
import { StorageBusy } from '../../src/ports/storage.ts';
import { NOBODY } from '../support/database/stored.ts';
import { throwAt } from '../support/service/bodies.ts';
import { aServiceInTime, type InTime, withMfa } from '../support/service/factors.ts';
import {
  anAdmin,
  aPerson,
  aService,
  as,
  ORIGIN,
  outcome,
  type Person,
  person,
  stateOf,
} from '../support/service/service.ts';

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
    const received = [401, 'Bearer error="invalid_token"'];
    t.same([statusCode, headers['www-authenticate']], received, authorization);
  }
});

t.test('a credential is read from the header alone', async (t) => {
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

t.test('a change from a foreign page is refused first; reading is not', async (t) => {
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

t.test('all malformed requests get the same form of answer', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const headers = { authorization: `Bearer ${root.token}` };
  const typed = (type: string, body: string) => ({
    method: 'POST',
    url: '/api/auth/login',
    body,
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

t.test('every answer forbids caching and sniffing, and has our request id', async (t) => {
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

/** A service under attack with guessed sign-in factors, and the state that a refusal must not change. */
function target(service: InTime, who: Person | null) {
  const state = stateOf(service);
  return {
    service,
    who,
    beforeEach() {
      service.clock.advance(60_000);
      // The fifth wrong passcode would end the session that the test needs.
      for (const [id, lock] of state.locks) state.locks.set(id, { ...lock, wrong: 0 });
    },
    facts() {
      const { users, sessions, totp, recoveryCodes, passkeys, passcodes, autoLockMinutes } = state;
      const kept = { users, sessions, totp, recoveryCodes, passkeys, passcodes, autoLockMinutes };
      return inspect(kept, { depth: null, maxArrayLength: null, maxStringLength: null });
    },
  };
}

t.test('random anonymous requests cause no fault, and a refusal changes nothing', async (t) => {
  const statuses = await throwAt(target(await aServiceInTime(), null));
  for (const status of [200, 400, 401]) t.ok(statuses.has(status), `${status}`);
});

t.test('random requests with a second factor cause no fault, and a refusal changes nothing', async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  const statuses = await throwAt(target(service, who));
  for (const status of [200, 400, 403]) t.ok(statuses.has(status), `${status}`);
  t.equal((await as(service, who)('GET', '/api/me')).statusCode, 200, 'the session lived all the time');
});

t.test('random requests from a locked session cause no fault, and a refusal changes nothing', async (t) => {
  const service = await aServiceInTime();
  const who = await aPerson(service, 'ada');
  await as(service, who)('PUT', '/api/me/lock', { passcode: '1234' });
  await as(service, who)('POST', '/api/sessions/lock');
  const statuses = await throwAt(target(service, who));
  for (const status of [403, 423]) t.ok(statuses.has(status), `${status}`);
  t.match((await as(service, who)('GET', '/api/me')).json(), { locked: true });
});

t.test('an unpaired surrogate is refused, since it would be stored as another character', async (t) => {
  const service = await aServiceInTime();
  const who = await aPerson(service, 'ada');
  const half = '\udc00\ud83d';
  const mine = person('ada');
  const bodies = [
    ['POST', '/api/auth/register', { ...person('bob'), password: `${mine.password}${half}` }],
    ['POST', '/api/auth/login', { email: `${mine.email}${half}`, password: mine.password }],
    ['POST', '/api/me/password', { old_password: mine.password, new_password: `${mine.password}${half}` }],
    ['PUT', '/api/me/lock', { passcode: `12${half}` }],
    ['POST', '/api/sessions/revoke-others', { reason: half }],
  ] as const;
  for (const [method, url, body] of bodies) {
    t.same(outcome(await as(service, who)(method, url, body)), [400, 'validation_failed'], url);
  }
  t.equal((await as(service, who)('PUT', '/api/me/lock', { passcode: '😀😀😀😀' })).statusCode, 200);
});

t.test('a value outside the limits of its field is refused in plain words', async (t) => {
  const service = await aService();
  const root = as(service, await anAdmin(service));
  const limits = { history_days: 3, session_idle_minutes: 99_999, open_registration: 'yes' };
  const settings = await root('PATCH', '/api/admin/settings', limits);
  t.match(
    [settings.statusCode, settings.json()],
    [
      400,
      {
        fields: {
          history_days: 'must be at least 30',
          session_idle_minutes: 'must be at most 1440',
          open_registration: 'must be of type boolean',
        },
      },
    ],
  );
});

t.test('an answer is written without a choice between alternatives, and with the same text', (t) => {
  const serializer = compilers.buildSerializer({}, undefined as never);
  const written = (schema: TSchema, value: unknown) =>
    serializer({ schema, method: 'GET', url: '/', httpStatus: '200' } as never)(value);
  const item = Type.Object({ id: Type.String(), at: Nullable(Timestamp) });
  for (const [schema, values] of [
    [Nullable(Type.String()), [null, '', 'a "quoted" word', 'ü\u2028']],
    [Nullable(Timestamp), [null, '2026-11-28T14:00:00.000Z']],
    [Nullable(Type.Integer()), [null, 0, -3]],
    [Nullable(Type.Boolean()), [null, false]],
    [OneOf(['read', 'write']), ['read', 'write']],
    [Nullable(OneOf(['read', 'write'])), [null, 'write']],
    [Nullable(Type.Array(OneOf(['read', 'write']))), [null, [], ['read', 'write']]],
    [Nullable(item), [null, { id: 'one', at: null }, { id: 'two', at: '2026-11-28T14:00:00.000Z' }]],
    [Type.Array(item), [[], [{ id: 'one', at: null }]]],
  ] as const) {
    t.notMatch(JSON.stringify(plainAlternatives(schema)), /anyOf/);
    for (const value of values) t.equal(written(schema, value), JSON.stringify(value));
  }
  const two = Type.Union([Type.Object({ a: Type.Integer() }), Type.Object({ b: Nullable(Type.Integer()) })]);
  for (const value of [{ a: 1 }, { b: null }]) t.equal(written(two, value), JSON.stringify(value));
  t.equal(written(item, { id: 'one', at: null, secret: 'x' }), '{"id":"one","at":null}', 'and nothing else');
  t.end();
});
