import fc from 'fast-check';
import t from 'tap';
import { bodyOf, nasty } from '../support/service/bodies.ts';
import { aServiceInTime, type InTime } from '../support/service/factors.ts';
import { anAdmin, anApiToken, type Person, stateOf } from '../support/service/service.ts';
import { thorough } from '../support/values.ts';

const RUNS = thorough(15, 60);
/** These succeed without a body, and end or change the caller's session. */
const ENDS_SESSION = new Set([
  'POST /api/auth/logout',
  'POST /api/sessions/lock',
  'POST /api/sessions/revoke-others',
  'DELETE /api/me/lock',
]);
/** Real field names, so that random bodies pass the first check. */
const FIELDS = 'name email username password code scopes expires_in memory_mb role reason'.split(' ');

const body = fc.oneof(
  bodyOf(FIELDS).map((any) => JSON.stringify(any) ?? 'null'),
  fc.constantFrom('', '{', '[', 'null', '"', '\0', '[[[[', '\ufeff{}', '{"name":"a","name":"b"}'),
  fc.constantFrom('{"__proto__":{"role":"admin"}}', '{"constructor":{"prototype":{}}}', '{"name":1e400}'),
  nasty,
);
const type = fc.oneof(
  { weight: 8, arbitrary: fc.constant('application/json') },
  { weight: 1, arbitrary: fc.constantFrom('application/json; charset=utf-16', 'text/plain', 'x', '') },
);
/** A path segment that is no existing id. */
const segment = fc
  .oneof(
    nasty.map((raw) => (raw.isWellFormed() ? encodeURIComponent(raw) : '%ed%a0%80') || '-'),
    fc.string({ unit: fc.constantFrom(..."aZ0-._~!$&'()*+,;=:@", '%C3%BC'), minLength: 1 }),
    fc.uuid(),
    fc.constantFrom('%', '%zz'),
  )
  // `..` resolves to another route.
  .filter((raw) => raw !== '..');
const header = fc
  .string({ unit: 'binary-ascii', maxLength: 60 })
  .map((raw) => raw.replace(/[^\x20-\x7e]/g, ''));

/** The state that a refused request must not change: everything but its deliberate traces. */
function lasting(service: InTime): string {
  const { users, sessions, containers, apiTokens, settings } = stateOf(service);
  const kept = sessions.map(({ lastSeenAt: _, ...rest }) => rest);
  return JSON.stringify({ users, sessions: kept, containers, apiTokens, settings });
}

type Answer = { readonly statusCode: number; readonly body: string };

/** Throws unless the answer has the interface's form. */
function assertTold({ statusCode, body }: Answer): void {
  if (statusCode >= 500) throw new Error(`${statusCode} ${body}`);
  if (statusCode < 400) return;
  const { error, code } = JSON.parse(body);
  if (typeof error !== 'string' || !/^[a-z_]+$/.test(code)) throw new Error(`${statusCode} ${body}`);
}

async function throwAt(service: InTime, who: Person, route: string): Promise<void> {
  const [method, path = ''] = route.split(' ');
  const isPublic = service.http.routeScopes.get(route) === 'public';
  const request = fc.record({ payload: body, id: segment, agent: header, type, authorized: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(request, async ({ payload, id, agent, type, authorized }) => {
      const before = lasting(service);
      const answer = await service.http.inject({
        method: method as 'POST',
        url: path.replace(':id', () => id),
        // Local programs may read some routes without a credential.
        remoteAddress: '203.0.113.7',
        headers: {
          'content-type': type,
          'user-agent': agent,
          authorization: authorized ? `Bearer ${who.token}` : `Bearer ${agent}`,
        },
        ...(method === 'GET' ? {} : { payload }),
      });
      assertTold(answer);
      const isRefused = answer.statusCode >= 400;
      if (!isRefused && path.includes(':id')) throw new Error(`${id} named something`);
      if (!isRefused && !authorized && !isPublic) throw new Error(`${agent} gave access`);
      if (isRefused && lasting(service) !== before) throw new Error('a refused request changed something');
    }),
    { numRuns: RUNS },
  );
}

/** A service without a request limit, and its administrator. */
async function aScene() {
  const service = await aServiceInTime();
  const who = await anAdmin(service);
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  await service.http.ready();
  const login = { authorization: `Bearer ${who.token}` };
  return { service, who, login };
}

t.test('any malformed request is refused in words and changes nothing', async (t) => {
  const { service, who } = await aScene();
  await anApiToken(service, who);
  const routes = [...service.http.routeScopes.keys()].filter(
    (route) => !route.startsWith('HEAD') && !ENDS_SESSION.has(route),
  );
  t.ok(routes.length > 50);
  for (const route of routes) await t.resolves(throwAt(service, who, route), route);
  t.notOk('name' in Object.prototype, 'no prototype was touched');
});

t.test('odd query strings and addresses are refused as well', async (t) => {
  const { service, login } = await aScene();
  const paths = fc.constantFrom('containers', 'audit', 'admin/users', 'me');
  await fc.assert(
    fc.asyncProperty(paths, nasty, nasty, async (path, key, raw) => {
      const query = new URLSearchParams([[key.toWellFormed(), raw.toWellFormed()]]);
      assertTold(await service.http.inject({ url: `/api/${path}?${query}`, headers: login }));
    }),
    { numRuns: 200 },
  );
  t.pass('each of them');
});

t.test('any text in the place of an id names no token', async (t) => {
  const { service, who, login } = await aScene();
  await anApiToken(service, who);
  const before = structuredClone(stateOf(service).apiTokens);
  const ways = fc.constantFrom(['POST', '/revoke'] as const, ['DELETE', ''] as const);
  await fc.assert(
    fc.asyncProperty(segment, ways, async (id, [method, suffix]) => {
      const url = `/api/tokens/${id}${suffix}`;
      const { statusCode } = await service.http.inject({ method, url, headers: login });
      return statusCode >= 400 && statusCode < 500;
    }),
    { numRuns: 200 },
  );
  t.same(stateOf(service).apiTokens, before);
});

t.test('any false credential is refused', async (t) => {
  const { service } = await aScene();
  const latin = fc.string({
    unit: fc.integer({ min: 32, max: 255 }).map((code) => String.fromCharCode(code)),
  });
  const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: 60, maxLength: 68 });
  const part = fc.base64String();
  const credential = fc.oneof(
    latin,
    latin.map((one) => `Bearer ${one}`),
    hex.map((one) => `Bearer svc_${one}`),
    hex.map((one) => `bearer  svc_${one}`),
    fc.tuple(part, part, part).map((parts) => `Bearer ${parts.join('.')}`),
  );
  const urls = fc.constantFrom('/api/tokens/validate', '/api/tokens', '/api/me', '/api/admin/settings');
  await fc.assert(
    fc.asyncProperty(credential, urls, async (authorization, url) => {
      const answer = await service.http.inject({ method: 'GET', url, headers: { authorization } });
      return answer.statusCode === 401 && answer.headers['www-authenticate'] !== undefined;
    }),
    { numRuns: 300 },
  );
  t.pass('each of them');
});
