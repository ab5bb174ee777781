import t from 'tap';
import { fromColumns, toColumns } from '../../../src/adapters/postgres/columns.ts';

t.test('a value is read from the columns of its properties, and from no others', async (t) => {
  const read = fromColumns('id userId', 'lastUsedAt');
  const row = { id: 'a', user_id: 'b', last_used_at: null, password_hash: 'secret' };
  t.strictSame(read(row), { id: 'a', userId: 'b', lastUsedAt: null });
});

t.test('a value is written to the columns of its properties, and to no others', async (t) => {
  const write = toColumns('id layerMb', 'forkIds');
  t.strictSame(write({ id: 'a', layerMb: 1, forkIds: ['b'], other: 'c' }), {
    id: 'a',
    layer_mb: 1,
    fork_ids: ['b'],
  });
});

t.test('an absent property leaves its column as it is', async (t) => {
  t.strictSame(toColumns('layerMb volumeMb')({ layerMb: 1 }), { layer_mb: 1, volume_mb: undefined });
});
