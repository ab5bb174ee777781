import t from 'tap';
import { fixedClock, memoryPorts, memoryStorage } from '../../src/adapters/memory/index.ts';
import { StorageUnavailable } from '../../src/ports/repositories.ts';
import { aPerson, aService, as, person } from '../support/service.ts';
import { again, sessionIdOf, sessionsOf, statusOf } from '../support/sign-ins.ts';

t.test('what has expired is neither listed nor counted, and ends all the same', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
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

t.test('a revoked session leaves the list after 30 days', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  await again(service, ada, 'ada');
  await as(service, ada)('POST', '/api/sessions/revoke-others');
  const day = 86_400_000;
  service.clock.advance(30 * day - 1);
  t.equal((await sessionsOf(service, await again(service, ada, 'ada'))).length, 2);
  service.clock.advance(1);
  t.equal((await sessionsOf(service, await again(service, ada, 'ada'))).length, 2, 'two new ones alone');
});

t.test('a database that fails is told in the words of the interface, and never as 401', async (t) => {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  const service = await aService({ storage, clock });
  const ada = await aPerson(service, 'ada');
  const { sessions } = storage.repositories;
  const down = async (): Promise<never> => {
    throw new StorageUnavailable('no answer');
  };
  const { listOwned, findWithUser, findAllWithUser } = sessions;
  Object.assign(sessions, { listOwned: down });
  const answer = await as(service, ada)('GET', '/api/sessions');
  t.same([answer.statusCode, answer.json().error], [500, 'failed to list sessions']);
  Object.assign(sessions, {
    listOwned: async () => {
      throw new Error('relation "sessions" does not exist');
    },
  });
  t.equal((await as(service, ada)('GET', '/api/sessions')).json().error, 'failed to list sessions');
  Object.assign(sessions, { listOwned, findWithUser: down, findAllWithUser: down });
  const other = await aService({ storage, clock });
  const refused = await as(other, ada)('GET', '/api/sessions');
  t.same([refused.statusCode, refused.json().code], [503, 'unavailable']);
  t.match(refused.headers['retry-after'], /^[1-5]$/);
  Object.assign(sessions, { findWithUser, findAllWithUser });
  t.equal(await statusOf(other, ada), 200, 'and it is back at once');
});

t.test('without its audit record nothing is revoked', async (t) => {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  const service = await aService({ storage, clock });
  const ada = await aPerson(service, 'ada');
  const other = await again(service, ada, 'ada');
  const { append } = storage.repositories.audit;
  Object.assign(storage.repositories.audit, {
    append: async () => {
      throw new Error('disk full');
    },
  });
  const one = await as(service, ada)('DELETE', `/api/sessions/${await sessionIdOf(service, other)}`);
  t.same([one.statusCode, one.json().error], [500, 'failed to revoke session']);
  const all = await as(service, ada)('POST', '/api/sessions/revoke-others');
  t.same([all.statusCode, all.json().error], [500, 'failed to revoke sessions']);
  Object.assign(storage.repositories.audit, { append });
  t.equal(await statusOf(service, other), 200);
  t.notOk((await sessionsOf(service, ada)).some((session) => session['revoked_at'] !== null));
});

t.test('the address comes from a header only behind a proxy that is trusted; the agent is cut', async (t) => {
  const agent = `evil\u001b[31m\u0007${'x'.repeat(600)}`;
  const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': agent };
  const { email, password } = person('ada');
  for (const [trustProxy, expected] of [
    [[], '127.0.0.1'],
    [['10.0.0.0/8'], '127.0.0.1'],
    [['127.0.0.1'], '203.0.113.9'],
  ] as const) {
    const service = await aService({}, { trustProxy });
    const ada = await aPerson(service, 'ada');
    const made = await as(service, null)('POST', '/api/auth/login', { email, password }, headers);
    const [session] = await sessionsOf(service, { ...ada, token: made.json().token });
    t.equal(session?.['ip_address'], expected);
    t.equal(session?.['user_agent'], `evil[31m${'x'.repeat(504)}`);
  }
});

t.test('what a proxy gives as an address is one, without a port, or else the proxy is meant', async (t) => {
  const service = await aService({}, { trustProxy: ['127.0.0.1'] });
  const ada = await aPerson(service, 'ada');
  const { email, password } = person('ada');
  for (const [given, expected] of [
    ['203.0.113.9:51234', '203.0.113.9'],
    ['[2001:db8::1]:51234', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['203.0.113.9, 127.0.0.1', '203.0.113.9'],
    ['unknown', '127.0.0.1'],
    ['999.1.1.1:1', '127.0.0.1'],
    ['x'.repeat(9_000), '127.0.0.1'],
  ] as const) {
    const headers = { 'x-forwarded-for': given };
    const made = await as(service, null)('POST', '/api/auth/login', { email, password }, headers);
    const sessions = await sessionsOf(service, { ...ada, token: made.json().token });
    t.equal(sessions.find(({ is_current }) => is_current)?.['ip_address'], expected, given.slice(0, 30));
  }
});

t.test('the last use is in the list though it is not written yet', async (t) => {
  const clock = fixedClock();
  const service = await aService({ ...memoryPorts(clock), monotonicMs: () => clock.now().getTime() });
  const ada = await aPerson(service, 'ada');
  clock.advance(30_000);
  t.equal((await sessionsOf(service, ada))[0]?.['last_seen_at'], '2026-01-01T00:00:30.000Z');
});
