import fc from 'fast-check';
import t from 'tap';
import type { MemoryState } from '../../src/adapters/memory/index.ts';
import { aServiceInTime, type InTime } from '../support/factors.ts';
import { anAdmin, type Person } from '../support/service.ts';

const RUNS = 40;
/** These succeed without any body, and end or change the session that asks. */
const ENDS_SESSION = new Set([
  'POST /api/auth/logout',
  'POST /api/sessions/lock',
  'POST /api/sessions/revoke-others',
  'DELETE /api/me/lock',
]);

const odd = fc.constantFrom(
  '\0',
  '\ud800',
  '__proto__',
  'constructor',
  '../../etc/passwd',
  "' or 1=1 --",
  '%00',
  '%',
  'x'.repeat(5_000),
  '\u202e',
  'agent:',
);
const text = fc.oneof(fc.string({ unit: 'binary' }), odd);
const huge = fc.constantFrom(1e308, -1e308, 2 ** 53, -1, 0, 0.1, Number.MIN_VALUE);
const value = fc.letrec((tie) => ({
  any: fc.oneof({ depthSize: 'small' }, text, huge, fc.boolean(), fc.constant(null), tie('list'), tie('map')),
  list: fc.array(tie('any'), { maxLength: 4 }),
  map: fc.dictionary(fc.oneof(text, fc.constantFrom(...KNOWN_FIELDS())), tie('any'), { maxKeys: 5 }),
})).any;
const body = fc.oneof(
  value.map((any) => JSON.stringify(any) ?? 'null'),
  fc.constantFrom(
    '',
    '{',
    '[',
    '{"__proto__":{"role":"admin"}}',
    '{"name":1e400}',
    'null',
    '"',
    '\0',
    '[[[[',
  ),
  fc.string({ unit: 'binary' }),
);
const header = fc
  .string({ unit: 'binary-ascii', maxLength: 60 })
  .map((raw) => raw.replace(/[^\x20-\x7e]/g, ''));

/** Real names of fields, so that what is thrown also gets past the first check. */
function KNOWN_FIELDS(): readonly string[] {
  return [
    'name',
    'email',
    'username',
    'password',
    'code',
    'scopes',
    'expires_in',
    'memory_mb',
    'role',
    'reason',
  ];
}

/** What a refused request must leave as it was: everything but the traces that refusals leave on purpose. */
function lasting(service: InTime): string {
  const { users, sessions, containers, apiTokens, settings } = (
    service.ports.storage as unknown as { state: MemoryState }
  ).state;
  const kept = sessions.map(({ lastSeenAt: _, ...rest }) => rest);
  return JSON.stringify({ users, sessions: kept, containers, apiTokens, settings });
}

async function throwAt(service: InTime, who: Person, route: string): Promise<void> {
  const [method, path = ''] = route.split(' ');
  await fc.assert(
    fc.asyncProperty(body, text, header, fc.boolean(), async (payload, id, agent, authorized) => {
      const before = lasting(service);
      const answer = await service.http.inject({
        method: method as 'POST',
        url: path.replace(':id', encodeURIComponent(id.toWellFormed()) || '-'),
        headers: {
          'content-type': 'application/json',
          'user-agent': agent,
          authorization: authorized ? `Bearer ${who.token}` : `Bearer ${agent}`,
        },
        ...(method === 'GET' ? {} : { payload }),
      });
      if (answer.statusCode >= 500) throw new Error(`${answer.statusCode} ${answer.body}`);
      if (answer.statusCode >= 400 && lasting(service) !== before)
        throw new Error('a refused request changed something');
    }),
    { numRuns: RUNS },
  );
}

t.setTimeout(240_000);
t.test('whatever is thrown at a route, it is refused in words and changes nothing', async (t) => {
  const service = await aServiceInTime();
  const who = await anAdmin(service);
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  await service.http.ready();
  const routes = [...service.http.routeScopes.keys()].filter(
    (route) => !route.startsWith('HEAD') && !ENDS_SESSION.has(route),
  );
  t.ok(routes.length > 50);
  for (const route of routes) await t.resolves(throwAt(service, who, route), route);
});

t.test('odd query strings and addresses are refused as well', async (t) => {
  const service = await aServiceInTime();
  const who = await anAdmin(service);
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('containers', 'audit', 'admin/users', 'me'),
      text,
      text,
      async (path, key, raw) => {
        const query = new URLSearchParams([[key.toWellFormed(), raw.toWellFormed()]]);
        const url = `/api/${path}?${query}`;
        const answer = await service.http.inject({ url, headers: { authorization: `Bearer ${who.token}` } });
        if (answer.statusCode >= 500) throw new Error(`${answer.statusCode} ${answer.body}`);
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});
