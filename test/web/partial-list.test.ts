import t from 'tap';
import { BerthError } from '../../web/src/api/errors.ts';
import type { Container } from '../../web/src/api/types.ts';
import { PartialList } from '../../web/src/state/list/partial-list.ts';
import { rulesOf } from '../../web/src/state/list/rules.ts';

const QUERY = { shared: 'false', q: '', status: '', sort: 'name' } as const;
type Query = Omit<typeof QUERY, 'status' | 'sort'> & { readonly status: string; readonly sort: string };

const row = (name: string, over: Partial<Container> = {}) =>
  ({
    db_id: name,
    name,
    status: 'running',
    image: '',
    role: '',
    volume: { used_mb: null },
    ...over,
  }) as Container;

const PAGE = 3;
const PAGE_OF_MANY = 100;

/** A service that has these containers. While `gate` is set, its answers wait, and say what was true when it was asked. */
function aService(names: Iterable<string>, pageLength = PAGE) {
  const state = {
    rows: [...names].map((name) => row(name)),
    asked: 0,
    gate: Promise.resolve(),
    refusesCursors: false,
  };
  const answered = async <A>(answer: A): Promise<A> => {
    state.asked += 1;
    await state.gate;
    return answer;
  };
  const list = new PartialList<Container, Query>({
    readPage: (query, cursor) => {
      if (state.refusesCursors && cursor !== null)
        return Promise.reject(new BerthError(400, 'validation_failed', 'unknown cursor'));
      const { matches, compare } = rulesOf(query);
      const found = state.rows.filter(matches).sort(compare ?? (() => 0));
      const rest = found.filter(({ name }) => cursor === null || name > cursor);
      const items = rest.slice(0, pageLength);
      const next = rest.length > pageLength ? (items.at(-1)?.name ?? null) : null;
      return answered({ items, total: found.length, next });
    },
    rulesOf,
  });
  const read = (query: Query = QUERY): Promise<void> => list.readWhole(query, () => true);
  const find = (name: string): Container | null => state.rows.find((one) => one.db_id === name) ?? null;
  return {
    state,
    list,
    read,
    renew: (name: string) => list.renew(name, () => answered(find(name))),
    /** Changes a container. */
    set: (name: string, over: Partial<Container>): void => {
      state.rows = state.rows.map((one) => (one.db_id === name ? { ...one, ...over } : one));
    },
    add: (name: string) => state.rows.push(row(name)),
    remove: (name: string): void => {
      state.rows = state.rows.filter((one) => one.db_id !== name);
    },
    /** What `work` asks is answered when the returned function is called. */
    async late(work: () => Promise<void>): Promise<() => Promise<void>> {
      const gate = Promise.withResolvers<void>();
      state.gate = gate.promise;
      const done = work();
      state.gate = Promise.resolve();
      return async () => {
        gate.resolve();
        await done;
      };
    },
    shown: (): string => list.loaded.value?.items.map(({ name }) => name).join('') ?? '',
    total: (): number => list.loaded.value?.total ?? -1,
  };
}

t.test('pages that come while the list is read again stay', async (t) => {
  const { list, read, late, shown } = aService('abcdefgh');
  await read();
  const end = await late(read);
  await list.readMore();
  t.equal(shown(), 'abcdef');
  await end();
  t.equal(shown(), 'abcdef');
  await list.readMore();
  t.equal(shown(), 'abcdefgh');
});

t.test('the rest of a list is loaded although another reading moves the end of what is loaded', async (t) => {
  const { list, read, late, remove, shown } = aService('abcdefgh');
  await read();
  const end = await late(() => list.readMore());
  remove('b');
  await read();
  await end();
  t.equal(shown(), 'acd', 'the late page does not follow this');
  await list.readMore();
  await list.readMore();
  t.equal(shown(), 'acdefgh');
});

t.test('a second call loads no page twice', async (t) => {
  const { list, read, state } = aService('abcdefgh');
  await read();
  await Promise.all([list.readMore(), list.readMore()]);
  t.equal(state.asked, 2);
});

t.test('an answer that was asked for earlier changes nothing when it comes later', async (t) => {
  const { list, read, late, set, renew, add, remove, shown } = aService('abc');
  await read();
  const statuses = (): string =>
    list.loaded.value?.items.map(({ name, status }) => `${name} ${status}`).join() ?? '';
  const endReading = await late(read);
  set('b', { status: 'stopped' });
  await renew('b');
  await endReading();
  t.match(statuses(), 'b stopped', 'of a reading');
  const endRenewal = await late(() => renew('b'));
  set('b', { status: 'running' });
  await read();
  await endRenewal();
  t.match(statuses(), 'b running', 'of a row');
  const endThird = await late(read);
  add('aa');
  remove('c');
  await renew('aa');
  await renew('c');
  await endThird();
  t.equal(shown(), 'aaab', 'rows that came and went');
});

t.test('a row that changes goes to where the query has it', async (t) => {
  const { list, read, set, renew, shown, total } = aService('abcdefgh');
  const running = { ...QUERY, status: 'running' };
  await read(running);
  set('b', { status: 'stopped' });
  await renew('b');
  t.equal(shown(), 'ac', 'it is no longer found');
  t.equal(total(), 7);
  set('a', { name: 'bz' });
  await renew('a');
  t.equal(shown(), 'bzc');
  set('c', { name: 'x' });
  await renew('c');
  t.equal(shown(), 'bz', 'behind what is loaded');
  while (list.loaded.value?.next !== null) await list.readMore();
  t.equal(shown(), 'bzdefghx');
});

t.test('a page that is read again shows what came, went and changed on it', async (t) => {
  const { list, read, set, add, remove, shown, total, state } = aService('abcdefghi');
  await read();
  await list.readMore();
  await list.readMore();
  list.markStale();
  t.ok(list.isStaleIn([4, 4]));
  add('dd');
  remove('e');
  set('f', { status: 'stopped' });
  add('aa');
  const before = state.asked;
  await list.readAround(4);
  t.equal(shown(), 'abcdddfghi');
  t.equal(total(), 10);
  t.equal(list.loaded.value?.items.find(({ name }) => name === 'f')?.status, 'stopped');
  t.equal(state.asked, before + 1);
  t.ok(list.isStaleIn([0, 0]), 'the other pages are not read');
  await list.readAround(0);
  t.equal(shown(), 'aaabcdddfghi');
});

t.test('changes at the border of two pages are shown, although rows came and went before it', async (t) => {
  for (const [came, went] of [
    ['', ''],
    ['123', ''],
    ['', 'a'],
    ['', 'abce'],
    ['12345678', 'b'],
  ] as const) {
    const { list, read, set, add, remove, shown, state } = aService('abcdefghijkl');
    await read();
    while (list.loaded.value?.next !== null) await list.readMore();
    for (const name of came) add(name);
    for (const name of `${went}dh`) remove(name);
    set('f', { status: 'stopped' });
    set('g', { status: 'stopped' });
    for (let round = 0; round < 3; round += 1) {
      list.markStale();
      for (let index = 0; index < (list.loaded.value?.items.length ?? 0); index += 1)
        if (list.isStaleIn([index, index])) await list.readAround(index);
    }
    const now = state.rows.map(({ name, status }) => `${name} ${status}`).toSorted();
    const label = `came: ${came}, went: ${went}`;
    t.equal(
      shown(),
      state.rows
        .map(({ name }) => name)
        .toSorted()
        .join(''),
      label,
    );
    t.strictSame(
      list.loaded.value?.items.map(({ name, status }) => `${name} ${status}`),
      now,
      label,
    );
  }
});

t.test('a refresh of the rows on screen finds the page that they are on now', async (t) => {
  const names = Array.from({ length: 12 * PAGE_OF_MANY }, (_, index) => `m${String(index).padStart(5, '0')}`);
  const { list, read, set, add, remove, state } = aService(names, PAGE_OF_MANY);
  await read();
  while (list.loaded.value?.next !== null) await list.readMore();
  for (let index = 0; index < 30; index += 1) add(`a${index}`);
  remove('m00090');
  set('m00095', { status: 'stopped' });
  const indexOf = (name: string): number =>
    list.loaded.value?.items.findIndex(({ db_id }) => db_id === name) ?? -1;
  const refresh = () => list.refresh(QUERY, [indexOf('m00085'), indexOf('m00105')], () => true);
  await list.readAround(0);
  const before = state.asked;
  await refresh();
  await refresh();
  t.equal(indexOf('m00090'), -1);
  t.equal(list.loaded.value?.items[indexOf('m00095')]?.status, 'stopped');
  t.ok(state.asked - before <= 8, 'other pages are not read');
});

t.test('a row that the whole list no longer has does not return by an earlier answer', async (t) => {
  const { read, late, renew, remove, shown } = aService('abc');
  await read();
  const end = await late(() => renew('b'));
  remove('b');
  await read();
  await end();
  t.equal(shown(), 'ac');
});

t.test('a list is read anew when the service refuses its cursors', async (t) => {
  const { list, read, remove, shown, state } = aService('abcdefgh');
  await read();
  state.refusesCursors = true;
  remove('b');
  await list.readMore();
  t.equal(shown(), 'acd');
  state.refusesCursors = false;
  await list.readMore();
  t.equal(shown(), 'acdefg');
});

t.test('in an order that only the service knows, a long list is read whole at intervals', async (t) => {
  const names = Array.from({ length: 4 * PAGE_OF_MANY }, (_, index) => `m${String(index).padStart(5, '0')}`);
  const { list, read, remove } = aService(names, PAGE_OF_MANY);
  const query = { ...QUERY, sort: '-cpu' };
  await read(query);
  await list.readMore();
  await list.readMore();
  remove('m00090');
  await list.refresh(query, [80, 100], () => true);
  t.ok(list.has('m00090'), 'a page does not say that it is gone');
  const { now } = performance;
  t.teardown(() => {
    performance.now = now;
  });
  performance.now = () => now.call(performance) + 61_000;
  await list.refresh(query, [80, 100], () => true);
  t.notOk(list.has('m00090'));
});

t.test('an unchanged list stays the same object', async (t) => {
  const { list, read } = aService('abcd');
  await read();
  const before = list.loaded.value?.items;
  await read();
  await list.readAround(0);
  t.equal(list.loaded.value?.items, before);
});

t.test('in an order that only the service knows, rows stay where they are and new ones follow', async (t) => {
  const { list, read, set, add, renew, shown } = aService('abcd');
  await read({ ...QUERY, sort: '-cpu' });
  set('b', { status: 'stopped' });
  await renew('b');
  add('z');
  await renew('z');
  t.equal(shown(), 'abcz');
  await list.readMore();
  t.equal(shown(), 'abczd');
});

t.test('rows are in the order of the service', (t) => {
  const used = (used_mb: number | null, name: string) =>
    row(name, { volume: { used_mb } as Container['volume'], last_used_at: name });
  const rows = [used(null, 'a'), used(9, 'b'), used(10, 'c')];
  const names = (sort: string): string =>
    rows
      .toSorted(rulesOf({ ...QUERY, sort }).compare ?? (() => 0))
      .map(({ name }) => name)
      .join('');
  t.equal(names('disk'), 'bca');
  t.equal(names('-disk'), 'cba', 'a missing value comes last');
  t.equal(names('-last_used_at'), 'cba');
  t.equal(rulesOf({ ...QUERY, sort: 'memory' }).compare, null);
  t.end();
});
