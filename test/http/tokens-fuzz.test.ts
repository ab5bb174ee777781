import fc from 'fast-check';
import t from 'tap';
import type { memoryStorage } from '../../src/adapters/memory/index.ts';
import { aPerson, aService } from '../support/service.ts';

/** A service without a limit, somebody who is signed in, and what is stored. */
async function setUp() {
  const service = await aService();
  const { token } = await aPerson(service, 'ada');
  const { storage } = service.ports;
  await storage.repositories.settings.change({ requestsPerMinute: 0 });
  const { state } = storage as ReturnType<typeof memoryStorage>;
  const send = (method: 'GET' | 'POST' | 'DELETE', url: string, headers: object, payload?: string) =>
    service.http.inject({
      method,
      url,
      headers: { ...headers },
      ...(payload === undefined ? {} : { payload }),
    });
  return { state, send, login: { authorization: `Bearer ${token}` } };
}

const json = { 'content-type': 'application/json' };
const odd = fc.constantFrom('\0', '\ud800', '__proto__', 'constructor', '\u202e', "'", '%00', '1e400', '😀');
const text = fc.oneof(fc.string({ unit: 'binary' }), odd, fc.string());
const number = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.constantFrom(-0, 1e308, 5e-324));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  ),
})).any;
const request = fc.record(
  {
    name: fc.oneof(text, value),
    scopes: fc.oneof(fc.array(fc.oneof(fc.constantFrom('read', 'write', 'admin'), value)), value),
    expires_in: fc.oneof(number, value),
    [`__proto__`]: value,
    extra: value,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fc.oneof(request, value).map((one) => JSON.stringify(one) ?? ''),
  text,
  fc.constantFrom(
    '{"__proto__":{"name":"x"}}',
    '{"constructor":{"prototype":{}}}',
    '{"name":"ci","expires_in":1e400}',
  ),
  fc.constantFrom('{"name":"\\ud800"}', '{"name":"a","name":"b"}', '[[[[', '\ufeff{}', '{"name":"\\u0000"}'),
);

t.test('whatever is sent to make a token, it is made or refused, and never breaks anything', async (t) => {
  const { state, send, login } = await setUp();
  const types = fc.constantFrom(
    'application/json',
    'application/json; charset=utf-16',
    'text/plain',
    'x',
    '',
  );
  let made = 0;
  await fc.assert(
    fc.asyncProperty(body, types, async (payload, type) => {
      state.apiTokens = [];
      const answer = await send('POST', '/api/tokens', { ...login, 'content-type': type }, payload);
      if (answer.statusCode === 201) {
        made += 1;
        return state.apiTokens.length === 1;
      }
      const { error, code } = answer.json();
      const told = typeof error === 'string' && /^[a-z_]+$/.test(code);
      return answer.statusCode >= 400 && answer.statusCode < 500 && told && state.apiTokens.length === 0;
    }),
    { numRuns: 500 },
  );
  t.ok(made > 0, 'some of it was good');
  t.notOk('name' in Object.prototype, 'no prototype was touched');
});

t.test('whatever stands in the place of an id, it names no token', async (t) => {
  const { state, send, login } = await setUp();
  await send('POST', '/api/tokens', { ...login, ...json }, '{"name":"ci"}');
  const before = structuredClone(state.apiTokens);
  const id = fc.oneof(
    fc.uuid(),
    text.map(encodeURIComponentOrNot),
    fc.webSegment(),
    fc.constantFrom('%', '%zz', '..'),
  );
  await fc.assert(
    fc.asyncProperty(id, fc.boolean(), async (one, revoke) => {
      const url = `/api/tokens/${one}`;
      const answer = revoke ? await send('POST', `${url}/revoke`, login) : await send('DELETE', url, login);
      return answer.statusCode >= 400 && answer.statusCode < 500;
    }),
    { numRuns: 300 },
  );
  t.same(state.apiTokens, before);
});

t.test('whatever is sent as a credential, it is refused', async (t) => {
  const { send } = await setUp();
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 60, maxLength: 68 });
  const latin = fc.string({ unit: fc.integer({ min: 32, max: 255 }).map((c) => String.fromCharCode(c)) });
  const credential = fc.oneof(
    latin,
    latin.map((one) => `Bearer ${one}`),
    hex.map((one) => `Bearer svc_${one}`),
    hex.map((one) => `bearer  svc_${one}`),
    fc
      .tuple(fc.base64String(), fc.base64String(), fc.base64String())
      .map((parts) => `Bearer ${parts.join('.')}`),
  );
  const urls = fc.constantFrom('/api/tokens/validate', '/api/tokens', '/api/me', '/api/admin/settings');
  await fc.assert(
    fc.asyncProperty(credential, urls, async (authorization, url) => {
      const answer = await send('GET', url, { authorization });
      return answer.statusCode === 401 && answer.headers['www-authenticate'] !== undefined;
    }),
    { numRuns: 500 },
  );
  t.pass('each of them');
});

/** Lone surrogates cannot be encoded. */
function encodeURIComponentOrNot(given: string): string {
  return given.isWellFormed() ? encodeURIComponent(given) : '%ed%a0%80';
}
