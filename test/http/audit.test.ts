import t from 'tap';
import { anAdmin, aPerson, aService, as, type Person } from '../support/service.ts';
import { again, type TestService } from '../support/sign-ins.ts';

type Record_ = Record<string, unknown> & { id: string; action: string };

const page = async (service: TestService, who: Person, query = '') => {
  const answer = await as(service, who)('GET', `/api/audit${query}`);
  const { records, next_cursor: next } = answer.json() as { records: Record_[]; next_cursor: string | null };
  return { status: answer.statusCode, records, next };
};

t.test('everybody reads what was done in their name, newest first, and nothing else', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const root = await anAdmin(service);
  service.clock.advance(1000);
  await as(service, ada)('POST', '/api/auth/logout');
  service.clock.advance(1000);
  const now = await again(service, ada, 'ada');
  const { records, next } = await page(service, now);
  t.same(
    records.map(({ action }) => action),
    ['login', 'logged_out', 'login'],
  );
  t.equal(next, null);
  t.match(records[1], {
    id: /^[0-9a-f-]{36}$/,
    user_id: ada.id,
    ip_address: '127.0.0.1',
    user_agent: 'lightMyRequest',
    details: /^[0-9a-f-]{36}$/,
    created_at: '2026-01-01T00:00:01.000Z',
  });
  const ofRoot = await page(service, root);
  t.ok(
    ofRoot.records.every((record) => record['user_id'] === root.id),
    'administrators too',
  );
});

t.test('control characters of a program’s name reach no record', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  // Node.js refuses those below 0x20; these are CSI, NEL and DEL.
  const userAgent = 'Mozilla\u009b31m\u0085 ü\u007f/5.0';
  await as(service, ada)('POST', '/api/tokens', { name: 'ci' }, { 'user-agent': userAgent });
  t.match((await page(service, ada, '?action=token_created')).records, [{ user_agent: 'Mozilla31m ü/5.0' }]);
});

t.test('a long list comes in parts, without a gap and without a repeat', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const { audit } = service.ports.storage.repositories;
  const entry = { userId: ada.id, action: 'login_failed', ipAddress: '', userAgent: '' } as const;
  for (let n = 0; n < 120; n += 1) await audit.append({ ...entry, details: `${n}` });
  const seen: string[] = [];
  let cursor: string | null = '';
  let parts = 0;
  for (; cursor !== null && parts < 10; parts += 1) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const part = await page(service, ada, `?limit=50&action=login_failed${query}`);
    seen.push(...part.records.map((record) => String(record['details'])));
    cursor = part.next;
    if (parts === 0) await audit.append({ ...entry, details: 'new' });
  }
  t.equal(parts, 3);
  t.same(
    seen,
    Array.from({ length: 120 }, (_, n) => `${119 - n}`),
    'what comes in meanwhile moves nothing',
  );
  t.equal((await page(service, ada)).records.length, 50, 'fifty when nothing is said');
  t.equal((await page(service, ada, '?limit=200')).records.length, 122);
});

t.test('the list is filtered by action and time', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  service.clock.advance(60_000);
  await as(service, ada)('POST', '/api/tokens', { name: 'ci' });
  const actions = async (query: string) =>
    (await page(service, ada, query)).records.map(({ action }) => action);
  t.same(await actions('?action=login'), ['login']);
  t.same(await actions('?action=nothing'), []);
  t.same(await actions('?from=2026-01-01T00:01:00Z'), ['token_created'], 'from is inclusive');
  t.same(await actions('?to=2026-01-01T00:01:00Z'), ['login'], 'to is exclusive');
  t.same(await actions('?from=2026-01-01T01:00:30.000%2B01:00&to=2026-01-02T00:00:00Z'), ['token_created']);
});

t.test('a bad query is told by field', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e2', 'limit'],
    ['limit=05', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=x', 'cursor'],
    ['cursor=%00', 'cursor'],
    [`cursor=${'x'.repeat(129)}`, 'cursor'],
    ['cursor=99999999-9999-4999-8999-999999999999', 'cursor'],
    ['from=yesterday', 'from'],
    ['from=2026-01-01', 'from'],
    ['from=2026-13-01T00:00:00Z', 'from'],
    ['to=2026-01-01T25:00:00Z', 'to'],
    ['to=99999-01-01T00:00:00Z', 'to'],
    ['from=&to=', 'from'],
    ['user=eve', 'user'],
    ['action=%00', 'action'],
  ]) {
    const answer = await as(service, ada)('GET', `/api/audit?${query}`);
    t.same([answer.statusCode, Object.keys(answer.json().fields ?? {})[0]], [400, field], query ?? '');
  }
});

t.test('a token with read may look', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const made = await as(service, ada)('POST', '/api/tokens', { name: 'ci', scopes: ['read'] });
  t.equal((await page(service, { ...ada, token: made.json().token })).status, 200);
});
