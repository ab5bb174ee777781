import t from 'tap';
import { type ApiDocument, operationsOf } from '../support/service/api-document.ts';
import { aServiceInTime } from '../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as } from '../support/service/service.ts';

const NAMES = ['b', 'c', 'a', 'd', 'e'];

type Item = { readonly [field: string]: unknown };

/** A service in which most lists have several items, and who may read them all. */
async function aScene() {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  const root = await anAdmin(service);
  const call = as(service, root);
  const ids: string[] = [];
  for (const name of NAMES) {
    service.clock.advance(1_000);
    await anApiToken(service, root, { name });
    ids.push((await call('POST', '/api/containers', { name })).json().db_id);
    await call('POST', `/api/containers/${ids.at(-1)}/snapshots`, { name });
    await aPerson(service, `person-${name}`);
  }
  await call('POST', `/api/containers/${ids[0]}/collaborations`, { mode: 'view' });
  const document: ApiDocument = (await call('GET', '/api/openapi.json')).json();
  const lists = operationsOf(document).filter(({ operation }) =>
    operation.parameters?.some(({ name }) => name === 'limit'),
  );
  const read = async (path: string, query: Record<string, string>) => {
    const url = path.replace('{id}', ids[0] ?? '');
    const answer = await call('GET', `${url}?${new URLSearchParams(query)}`);
    if (answer.statusCode !== 200) throw new Error(`${url}: ${answer.body}`);
    const { next_cursor: next, ...rest } = answer.json();
    return { items: Object.values(rest)[0] as Item[], next: next as string | null | undefined };
  };
  return { call, lists, read, ids };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** The items of all pages; throws when there are more pages than `most`, the number of items, allows. */
async function allPages(
  { read }: Scene,
  path: string,
  query: Record<string, string>,
  most: number,
): Promise<Item[]> {
  const items: Item[] = [];
  let next: string | null | undefined;
  for (let pages = 0; pages <= most; pages += 1) {
    const page = await read(path, { ...query, limit: '2', ...(next ? { cursor: next } : {}) });
    t.ok(page.items.length <= 2 && page.next !== undefined, path);
    items.push(...page.items);
    next = page.next;
    if (!next) return items;
  }
  throw new Error(`the pages of ${path} do not end: ${JSON.stringify(query)}`);
}

/** An audited read adds a record to the list that it reads. */
const isStill = (path: string): boolean => !path.includes('audit');

t.test('every list is read in pages, in the order of each field that it sorts by', async (t) => {
  const scene = await aScene();
  t.ok(scene.lists.length > 14, `${scene.lists.length} lists`);
  for (const { path, operation } of scene.lists.filter(({ path }) => isStill(path))) {
    const full = (await scene.read(path, { limit: '200' })).items;
    t.same(await allPages(scene, path, {}, full.length), full, path);
    const { schema } = operation.parameters?.find(({ name }) => name === 'sort') ?? {};
    for (const sort of (schema?.['enum'] as readonly string[]) ?? []) {
      const field = sort.replace('-', '');
      const values = (await allPages(scene, path, { sort }, full.length)).map((item) => item[field]);
      const known = values.filter((value) => value !== null).map(String);
      const ordered = sort === field ? known.toSorted() : known.toSorted().reverse();
      t.same(known, ordered, `${path} by ${sort}`);
      t.same(values.length, full.length, `${path} by ${sort}`);
    }
  }
});

t.test('a list that is read whole needs no query, and then has no cursor', async (t) => {
  const { call, read, ids } = await aScene();
  for (const path of ['/api/tokens', '/api/sessions', '/api/containers', '/api/images'])
    t.equal((await read(path, {})).next, undefined, path);
  t.equal((await read('/api/tokens', {})).items.length, NAMES.length);
  const { items, next = '' } = await read('/api/containers', { limit: '2', sort: 'name' });
  t.same([items.map(({ name }) => name), typeof next], [['a', 'b'], 'string']);
  await call('DELETE', `/api/containers/${ids[0]}`);
  const rest = await read('/api/containers', { limit: '9', sort: 'name', cursor: next ?? '' });
  t.same(
    rest.items.map(({ name }) => name),
    ['c', 'd', 'e'].slice(rest.items.length - 3),
    'the item of the cursor may be gone',
  );
});

t.test('a page continues where the one before ended, although its last item has moved', async (t) => {
  const { call, read, ids } = await aScene();
  const LIMITS = { memory_mb: 512, cpu_shares: 500, disk_mb: 1024 };
  const { next } = await read('/api/containers', { limit: '2', sort: 'name' });
  for (const name of ['z', 'A']) {
    const renamed = await call('PATCH', `/api/containers/${ids[0]}`, { name, ...LIMITS });
    t.equal(renamed.statusCode, 200, renamed.body);
    const rest = await read('/api/containers', { limit: '9', sort: 'name', cursor: next ?? '' });
    t.same(
      rest.items.map(({ name: shown }) => shown),
      ['c', 'd', 'e', ...(name === 'z' ? ['z'] : [])],
    );
  }
});

t.test('a page repeats no item of the same value, although the last item before it has moved', async (t) => {
  const { call, read, ids } = await aScene();
  const { items, next } = await read('/api/containers', { limit: '3', sort: 'status' });
  const last = items.at(-1)?.['db_id'];
  t.ok(ids.includes(String(last)));
  await call('DELETE', `/api/containers/${last}`);
  const rest = await read('/api/containers', { limit: '9', sort: 'status', cursor: next ?? '' });
  t.equal(rest.items.length, NAMES.length - 3);
});

t.test('a page follows a cursor of an earlier version, and none of another order', async (t) => {
  const { call, read } = await aScene();
  const query = { limit: '2', sort: 'name' };
  const { items, next } = await read('/api/containers', query);
  const earlier = Buffer.from(`1 ${items[1]?.['db_id']}`).toString('base64url');
  for (const cursor of [next ?? '', earlier]) {
    const rest = await read('/api/containers', { ...query, cursor });
    t.same(
      rest.items.map(({ name }) => name),
      ['c', 'd'],
    );
  }
  for (const sort of ['', '&sort=-name', '&sort=status']) {
    const { statusCode, json } = await call('GET', `/api/containers?limit=2&cursor=${next}${sort}`);
    t.same([statusCode, Object.keys(json().fields ?? {})], [400, ['sort']], sort);
  }
});

t.test('a list is limited to items with a value', async (t) => {
  const { call, read } = await aScene();
  const names = async (path: string, query: Record<string, string>) =>
    (await read(path, query)).items.map(({ name }) => name);
  t.same(await names('/api/tokens', { name: 'c' }), ['c']);
  t.same(await names('/api/containers', { name: 'c', status: 'running' }), ['c']);
  t.same(await names('/api/containers', { name: 'c', status: 'stopped' }), []);
  t.same(await names('/api/containers', { q: 'DEBIAN', sort: 'name', limit: '2' }), ['a', 'b']);
  t.same(await names('/api/containers', { q: 'nothing' }), []);
  t.same(await names('/api/containers', { shared: 'true' }), []);
  t.equal((await names('/api/containers', { shared: 'false' })).length, NAMES.length);
  const { total } = (await call('GET', '/api/containers?limit=2&status=running')).json();
  t.equal(total, NAMES.length, 'the count of all pages');
  const users = await read('/api/admin/users', { role: 'admin' });
  t.match(users, { items: [{ username: 'root' }], next: null });
  t.equal((await read('/api/admin/users', { tier: 'free' })).items.length, NAMES.length);
});

const BAD = [
  ...['limit=0', 'limit=201', 'limit=-1', 'limit=1e2', 'limit=05', 'limit=1&limit=2', 'sort=secret', 'sort='],
  ...[
    'cursor=',
    'cursor=x',
    'cursor=%00',
    'cursor=%20',
    'cursor=eA',
    `cursor=${'x'.repeat(2_049)}`,
    'unknown=1',
  ],
];

t.test('a bad query is refused by its field, on every list alike', async (t) => {
  const { call, lists, ids } = await aScene();
  for (const { path } of lists) {
    for (const query of BAD) {
      const { statusCode, json } = await call('GET', `${path.replace('{id}', ids[0] ?? '')}?${query}`);
      t.same([statusCode, Object.keys(json().fields ?? {})], [400, query.match(/^\w+/)], `${path}?${query}`);
    }
  }
});
