import t from 'tap';
import type { Container } from '../../web/src/api/types.ts';
import { keptFacts } from '../../web/src/lib/kept.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const inMinutes = (minutes: number): string => new Date(NOW.getTime() + minutes * 60_000).toISOString();

const deleted = (usedMb: number | null, keptMinutes: number): Container =>
  ({
    volume: { size_mb: 2048, used_mb: usedMb },
    deleted_at: inMinutes(-120),
    kept_until: inMinutes(keptMinutes),
  }) as Container;

t.test('a deleted container says how large it is and how long it is kept', async (t) => {
  t.match(
    keptFacts(deleted(300, 7 * 1440), NOW),
    /^0\.3 of 2 GB in \/workspace · deleted 2 h ago · kept until /,
  );
  t.match(keptFacts(deleted(null, 7 * 1440), NOW), /^2 GB in/, 'never counted: its size');
  t.match(keptFacts(deleted(0, 40), NOW), /· erased for good in 40 min$/, 'as what a guest deletes');
  t.match(keptFacts(deleted(0, -1), NOW), /· about to be erased$/);
});
