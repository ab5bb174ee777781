import t from 'tap';
import { fromColumns, toChangedColumns, toColumns } from '../../../src/adapters/postgres/columns.ts';

type Thing = { readonly id: string; readonly layerMb: number | null; readonly forkIds: readonly string[] };

const THING: Thing = { id: 'a', layerMb: null, forkIds: ['b'] };

t.test('a value is read from the columns of its properties, and from no others', async (t) => {
  const read = fromColumns('id userId', 'lastUsedAt');
  const row = { id: 'a', user_id: 'b', last_used_at: null, password_hash: 'secret' };
  t.strictSame(read(row), { id: 'a', userId: 'b', lastUsedAt: null });
});

t.test('a value is written to the columns of its properties, and to no others', async (t) => {
  const write = toColumns('id layerMb', 'forkIds');
  const wider: Thing = Object.assign({ other: 'c' }, THING);
  t.strictSame(write(wider), { id: 'a', layer_mb: null, fork_ids: ['b'] });
  t.not(write(THING).fork_ids, THING.forkIds, 'a row may be changed, a value may not');
});

t.test('an absent property of a change leaves its column as it is', async (t) => {
  const change: Partial<Thing> = { layerMb: 1 };
  t.strictSame(toChangedColumns('id layerMb')(change), { id: undefined, layer_mb: 1 });
});

t.test('lists that do not fit a value do not compile', async (t) => {
  const change: Partial<Thing> = {};
  const row = { id: 'a' };
  const wrong = () => [
    // @ts-expect-error a property that may be absent
    toColumns('id layerMb forkIds')(change),
    // @ts-expect-error a property that is not in the list
    toColumns('id layerMb')(THING),
    // @ts-expect-error a name that the value does not have
    toColumns('id layerMb forkIds other')(THING),
    // @ts-expect-error a name that the change does not have
    toChangedColumns('id layerMbb')(change),
    // @ts-expect-error a column that the row does not have
    fromColumns('id layerMb')(row),
  ];
  t.type(wrong, 'function');
});
