import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import type { AuditLog } from '../../src/ports/audit-log.ts';
import { waitFor } from '../support/patience.ts';
import { aServiceInTime } from '../support/service/factors.ts';
import {
  again,
  anAdmin,
  aPerson,
  aService,
  as,
  type Bearer,
  type TestService,
} from '../support/service/service.ts';
import { listenOnUnix } from '../support/service/streams.ts';
import { valuesOf } from '../support/values.ts';

type Listed = Record<string, unknown> & { action: string; username?: string | null; details: string };

const OWN = '/api/audit';
const ALL = '/api/admin/audit';
const CSV = { accept: 'text/csv' };
const NDJSON = { accept: 'application/x-ndjson' };

/** Root administers, and Ada has just registered. */
async function aScene() {
  const service = await aServiceInTime();
  return { service, root: await anAdmin(service), ada: await aPerson(service, 'ada') };
}

async function page(service: TestService, who: Bearer, url: string) {
  const { records, next_cursor: next } = (await as(service, who)('GET', url)).json();
  return { records: records as Listed[], next: next as string | null };
}

async function addTo(
  service: TestService,
  userId: string | null,
  details: string | ((n: number) => string),
  count = 1,
): Promise<void> {
  const { audit } = service.ports.storage.repositories;
  const entry = { userId, action: 'login_failed', ipAddress: '192.0.2.7', userAgent: 'agent' } as const;
  for (let n = 0; n < count; n += 1)
    await audit.append({ ...entry, details: typeof details === 'string' ? details : details(n) });
}

t.test('users read the records of their own actions, newest first, and no others', async (t) => {
  const { service, root, ada } = await aScene();
  service.clock.advance(1000);
  await as(service, ada)('POST', '/api/auth/logout');
  service.clock.advance(1000);
  const { records, next } = await page(service, await again(service, ada, 'ada'), OWN);
  t.same(valuesOf(records, 'action'), ['login', 'logged_out', 'login']);
  t.equal(next, null);
  t.match(records[1], {
    id: /^[0-9a-f-]{36}$/,
    user_id: ada.id,
    ip_address: '127.0.0.1',
    user_agent: 'lightMyRequest',
    details: /^[0-9a-f-]{36}$/,
    created_at: '2026-01-01T00:00:01.000Z',
  });
  const ofRoot = await page(service, root, OWN);
  t.ok(
    ofRoot.records.every((record) => record['user_id'] === root.id),
    'administrators too',
  );
});

t.test("control characters of a program's name reach no record", async (t) => {
  const { service, ada } = await aScene();
  // Node.js refuses those below 0x20; these are CSI, NEL and DEL.
  const userAgent = 'Mozilla\u009b31m\u0085 ü\u007f/5.0';
  await as(service, ada)('POST', '/api/tokens', { name: 'ci' }, { 'user-agent': userAgent });
  const { records } = await page(service, ada, `${OWN}?action=token_created`);
  t.match(records, [{ user_agent: 'Mozilla31m ü/5.0' }]);
});

t.test('a long list is paged, by fifty if nothing else is asked for', async (t) => {
  const { service, root, ada } = await aScene();
  await addTo(service, ada.id, (n) => `${n}`, 60);
  for (const [who, url] of [
    [ada, `${OWN}?action=login_failed`],
    [root, `${ALL}?action=login_failed`],
  ] as const) {
    const first = await page(service, who, url);
    const rest = await page(service, who, `${url}&limit=25&cursor=${first.next}`);
    t.same([first.records.length, rest.records.length, rest.next], [50, 10, null]);
    t.same(
      valuesOf([...first.records, ...rest.records], 'details'),
      Array.from({ length: 60 }, (_, n) => `${59 - n}`),
    );
  }
  t.equal((await page(service, ada, `${OWN}?limit=200`)).records.length, 61);
});

t.test("lists are filtered by action and time, and administrators' by user", async (t) => {
  const { service, root, ada } = await aScene();
  await addTo(service, null, 'of nobody');
  service.clock.advance(60_000);
  await as(service, ada)('POST', '/api/tokens', { name: 'ci' });
  const [login, made] = ['ada login', 'ada token_created'];
  for (const [query, expected] of [
    ['action=login', [login]],
    ['action=nothing', []],
    ['from=2026-01-01T00:01:00Z', [made]],
    ['to=2026-01-01T00:01:00Z', [login]],
    ['from=2026-01-01T01:00:30.000%2B01:00&to=2026-01-02T00:00:00Z', [made]],
  ] as const) {
    const { records } = await page(service, ada, `${OWN}?${query}`);
    t.same(
      records.map(({ action }) => `ada ${action}`),
      expected,
      query,
    );
    const all = await page(service, root, `${ALL}?user=ada&${query}`);
    t.same(
      all.records.map(({ action, username }) => `${username} ${action}`),
      expected,
      query,
    );
  }
  const { records } = await page(service, root, `${ALL}?action=login_failed`);
  t.match(records, [{ username: null, details: 'of nobody' }]);
  for (const [user, count] of [
    [ada.id, 2],
    [ada.id.toUpperCase(), 2],
    ['ADA', 2],
    ['ada@example.org', 2],
    ['mallory', 0],
    ['99999999-9999-4999-8999-999999999999', 0],
  ] as const)
    t.equal((await page(service, root, `${ALL}?user=${user}`)).records.length, count, user);
});

t.test('a bad audit query is refused by field, before an export begins', async (t) => {
  const { service, root, ada } = await aScene();
  for (const [query, field] of [
    ['from=yesterday', 'from'],
    ['from=2026-01-01', 'from'],
    ['from=2026-13-01T00:00:00Z', 'from'],
    ['to=2026-01-01T25:00:00Z', 'to'],
    ['to=99999-01-01T00:00:00Z', 'to'],
    ['from=&to=', 'from'],
    ['user=eve', 'user'],
    ['action=%00', 'action'],
  ]) {
    const answer = await as(service, ada)('GET', `${OWN}?${query}`);
    t.same([answer.statusCode, Object.keys(answer.json().fields ?? {})[0]], [400, field], query ?? '');
  }
  const nameless = await as(service, root)('GET', `${ALL}?user=`);
  t.same([nameless.statusCode, Object.keys(nameless.json().fields)], [400, ['user']]);
  t.equal((await as(service, ada)('GET', `${OWN}?from=x`, undefined, CSV)).statusCode, 400);
});

t.test("an administrator's view is recorded, once in ten minutes per session", async (t) => {
  const { service, root } = await aScene();
  const count = async (action: string) =>
    (await page(service, root, `${ALL}?action=${action}`)).records.length;
  for (let n = 0; n < 3; n += 1) await page(service, root, ALL);
  t.equal(await count('audit_listed'), 1);
  service.clock.advance(600_001);
  await page(service, root, ALL);
  t.equal(await count('audit_listed'), 2);
  for (let n = 0; n < 2; n += 1) await as(service, root)('GET', ALL, undefined, CSV);
  t.equal(await count('audit_exported'), 1);
});

t.test('CSV has everything that the filter admits, and no formula', async (t) => {
  const { service, root, ada } = await aScene();
  await addTo(service, null, 'plain, "quoted"\nand broken', 1_100);
  const dangerous = ['=HYPERLINK("http://x")', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'];
  for (const details of dangerous) await addTo(service, root.id, details);
  const answer = await as(service, root)('GET', `${ALL}?action=login_failed&limit=1`, undefined, CSV);
  t.match(answer.headers, {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="audit.csv"',
  });
  const [header, ...rows] = answer.body.split('\r\n');
  t.equal(header, 'created_at,username,action,ip_address,user_agent,details,user_id,id');
  t.equal(rows.length, 1_107, 'a line each, and the end of the last');
  t.match(rows[rows.length - 2], /Z,,login_failed,192\.0\.2\.7,agent,"plain, ""quoted""\nand broken",,/);
  for (const row of rows.slice(0, dangerous.length))
    t.match(row, /,root,login_failed,192\.0\.2\.7,agent,"?'[=+\-@\t\r]/, 'text, not a formula');
  const own = await as(service, ada)('GET', OWN, undefined, CSV);
  t.match(own.body, /^created_at,action,ip_address,user_agent,details,user_id,id\r\n.*,login,/);
  t.notMatch(own.body, /plain|HYPERLINK/, 'an own export holds nothing of others');
});

t.test("NDJSON has the list's objects, one per line", async (t) => {
  const { service, root, ada } = await aScene();
  await addTo(service, ada.id, 'two\nlines', 600);
  const own = await as(service, ada)('GET', `${OWN}?action=login_failed`, undefined, NDJSON);
  t.equal(own.headers['content-type'], 'application/x-ndjson');
  const lines = own.body.trimEnd().split('\n');
  t.equal(lines.length, 600);
  const [first] = (await page(service, ada, `${OWN}?action=login_failed&limit=1`)).records;
  t.same(JSON.parse(lines[0] ?? ''), first);
  const all = await as(service, root)('GET', `${ALL}?user=ada`, undefined, NDJSON);
  t.equal(all.body.trimEnd().split('\n').length, 601);
  const { id, created_at } = first as Listed;
  const start = `{"id":"${id}","user_id":"${ada.id}","action":"login_failed","ip_address":"192.0.2.7",`;
  const end = `"user_agent":"agent","details":"two\\nlines","created_at":"${created_at}"`;
  t.equal(lines[0], `${start}${end}}`);
  t.equal(all.body.split('\n')[0], `${start}${end},"username":"ada"}`, 'the name comes last');
  const none = await as(service, root)('GET', `${ALL}?user=nobody`, undefined, NDJSON);
  t.same([none.statusCode, none.body], [200, '']);
});

/** An endless audit that counts what is read of it. */
function endless(): AuditLog & { readonly parts: () => number } {
  let parts = 0;
  const record = {
    userId: null,
    username: null,
    action: 'login_failed',
    ipAddress: '192.0.2.1',
    userAgent: 'agent',
    details: 'x'.repeat(2_000),
    createdAt: new Date(0),
  };
  return {
    parts: () => parts,
    append: async () => {},
    async page() {
      parts += 1;
      await immediate();
      return {
        items: Array.from({ length: 100 }, (_, n) => ({ ...record, id: `${parts}-${n}` })),
        next: 'more',
      };
    },
  };
}

/** An export over a unix socket, whose buffers in the kernel are small. */
async function anExport(t: Test) {
  const storage = memoryStorage(fixedClock());
  const audit = endless();
  const service = await aService({
    storage: { ...storage, repositories: { ...storage.repositories, audit } },
  });
  const root = await anAdmin(service);
  const headers = { authorization: `Bearer ${root.token}`, ...CSV };
  const request = get({ socketPath: await listenOnUnix(t, service), path: ALL, headers });
  request.on('error', () => {});
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.on('error', () => {});
  return { service, root, answer, audit };
}

/** A reader reads at each turn of the event loop; after this many turns without a read it has stopped. */
const TURNS = 1_000;

/** The count when nothing is read any more, or when it has reached the limit. */
async function settled(count: () => number, limit: number): Promise<number> {
  let before = count();
  for (let turns = 0; turns < TURNS && before < limit; turns += 1) {
    await immediate();
    if (count() !== before) turns = 0;
    before = count();
  }
  return before;
}

const MAX_PARTS = 40;

t.test('an unread export pauses the database read', async (t) => {
  const { answer, audit } = await anExport(t);
  answer.pause();
  const parts = await settled(audit.parts, MAX_PARTS);
  t.ok(parts < MAX_PARTS, `${parts} parts of 200 KB fill the buffers of the line`);
  answer.resume();
  await once(answer, 'data');
  await waitFor(() => audit.parts() >= parts + 5, { what: 'it goes on when it is read on' });
  answer.destroy();
  const most = audit.parts() + MAX_PARTS;
  t.ok((await settled(audit.parts, most)) < most, 'and it ends with its reader');
});

t.test('an export is cut off when its session is revoked', async (t) => {
  const { service, root, answer } = await anExport(t);
  answer.resume();
  const cut = once(answer, 'aborted');
  await as(service, root)('POST', '/api/auth/logout');
  await cut;
  t.equal(answer.complete, false, 'half of it is not taken for the whole');
});
