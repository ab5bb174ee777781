import t from 'tap';
import { anAdmin, anApiToken, aPerson, aService, as, type Bearer } from '../support/service.ts';

type Service = Awaited<ReturnType<typeof aService>>;
type Listed = { action: string; username: string | null; details: string };

const listed = async (service: Service, who: Bearer, query = ''): Promise<Listed[]> =>
  (await as(service, who)('GET', `/api/admin/audit${query}`)).json().records;

const addTo = async (service: Service, userId: string | null, details: string, count = 1): Promise<void> => {
  const { audit } = service.ports.storage.repositories;
  const entry = { userId, action: 'login_failed', ipAddress: '192.0.2.7', userAgent: 'agent' } as const;
  for (let n = 0; n < count; n += 1) await audit.append({ ...entry, details });
};

t.test('an administrator reads what anybody did, with names, and filters it', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  await addTo(service, null, 'of nobody');
  service.clock.advance(60_000);
  await as(service, ada)('POST', '/api/tokens', { name: 'ci' });
  const seen = async (query: string) =>
    (await listed(service, root, query)).map(({ action, username }) => `${username} ${action}`);
  t.same(await seen('?limit=2'), ['ada token_created', 'null login_failed']);
  for (const user of [ada.id, ada.id.toUpperCase(), 'ada', 'ADA', 'ada@example.org']) {
    t.same(await seen(`?user=${user}`), ['ada token_created', 'ada login'], user);
  }
  t.same(await seen('?user=mallory'), [], 'nobody has that name');
  t.same(await seen('?user=99999999-9999-4999-8999-999999999999'), []);
  t.same(await seen('?user=ada&action=login&to=2026-01-01T00:01:00Z'), ['ada login']);
  t.same(await seen('?from=2026-01-01T00:01:00Z&action=token_created'), ['ada token_created']);
  const bad = await as(service, root)('GET', '/api/admin/audit?user=');
  t.same([bad.statusCode, Object.keys(bad.json().fields)], [400, ['user']]);
});

t.test('its pages go on where the last one ended', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  await addTo(service, null, 'x', 5);
  const first = (await as(service, root)('GET', '/api/admin/audit?action=login_failed&limit=3')).json();
  const url = `/api/admin/audit?action=login_failed&limit=3&cursor=${first.next_cursor}`;
  const second = (await as(service, root)('GET', url)).json();
  t.same([first.records.length, second.records.length, second.next_cursor], [3, 2, null]);
});

t.test('that an administrator looked is recorded, once in ten minutes for each session', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  const count = async (action: string) => (await listed(service, root, `?action=${action}`)).length;
  for (let n = 0; n < 3; n += 1) await listed(service, root);
  t.equal(await count('audit_listed'), 1);
  service.clock.advance(600_001);
  await listed(service, root);
  t.equal(await count('audit_listed'), 2);
  for (let n = 0; n < 2; n += 1) {
    await as(service, root)('GET', '/api/admin/audit', undefined, { accept: 'text/csv' });
  }
  t.equal(await count('audit_exported'), 1);
});

t.test('CSV holds everything that the filter lets through, and no formula', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  await addTo(service, null, 'plain, "quoted"\nand broken', 1_100);
  const dangerous = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'];
  for (const details of dangerous) await addTo(service, root.id, details);
  const answer = await as(service, root)('GET', '/api/admin/audit?action=login_failed&limit=1', undefined, {
    accept: 'text/csv',
  });
  t.match(answer.headers, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.csv"',
  });
  const [header, ...rows] = answer.body.split('\r\n');
  t.equal(header, 'created_at,username,action,ip_address,user_agent,details,user_id,id');
  t.equal(rows.length, 1_107, 'a line each, and the end of the last');
  t.match(rows[rows.length - 2], /Z,,login_failed,192\.0\.2\.7,agent,"plain, ""quoted""\nand broken",,/);
  for (const row of rows.slice(0, dangerous.length)) {
    t.match(row, /,root,login_failed,192\.0\.2\.7,agent,"?'[=+\-@\t\r]/, 'text, not a formula');
  }
});

t.test('NDJSON has the objects of the list, one in a line', async (t) => {
  const service = await aService();
  const [root, ada] = [await anAdmin(service), await aPerson(service, 'ada')];
  await addTo(service, ada.id, 'two\nlines', 600);
  const ndjson = { accept: 'application/x-ndjson' };
  const own = await as(service, ada)('GET', '/api/audit?action=login_failed', undefined, ndjson);
  t.equal(own.headers['content-type'], 'application/x-ndjson');
  const lines = own.body.trimEnd().split('\n');
  t.equal(lines.length, 600);
  const page = (await as(service, ada)('GET', '/api/audit?action=login_failed&limit=1')).json();
  t.same(JSON.parse(lines[0] ?? ''), page.records[0]);
  const all = await as(service, root)('GET', '/api/admin/audit?user=ada', undefined, ndjson);
  t.equal(all.body.trimEnd().split('\n').length, 601);
  t.equal(JSON.parse(all.body.split('\n')[0] ?? '').username, 'ada');
  const none = await as(service, root)('GET', '/api/admin/audit?user=nobody', undefined, ndjson);
  t.same([none.statusCode, none.body], [200, '']);
});

t.test('an own export holds nothing of others, and a bad filter is told before it begins', async (t) => {
  const service = await aService();
  const [root, ada] = [await anAdmin(service), await aPerson(service, 'ada')];
  await addTo(service, root.id, 'secret of root');
  const csv = await as(service, ada)('GET', '/api/audit', undefined, { accept: 'text/csv' });
  t.notMatch(csv.body, /secret of root/);
  t.match(csv.body, /^created_at,action,ip_address,user_agent,details,user_id,id\r\n/);
  const bad = await as(service, ada)('GET', '/api/audit?from=x', undefined, { accept: 'text/csv' });
  t.equal(bad.statusCode, 400);
  const token = await anApiToken(service, root, { scopes: ['read'] });
  const refused = await as(service, token)('GET', '/api/admin/audit', undefined, { accept: 'text/csv' });
  t.equal(refused.statusCode, 403);
});
