import { useRef } from 'preact/hooks';
import type { Container } from '../../../api/types.ts';
import type { ListQuery } from '../../../state/container-list.ts';

type List = {
  /** What of it is loaded. */
  readonly items: readonly Container[];
  readonly query: ListQuery;
  readonly total: number;
};

/** The ids that the second list has and the first lacked, except those that scrolling or a query brought. */
export function arrivedIn(before: List, now: List): readonly string[] {
  if (now.query !== before.query || now.total <= before.total) return [];
  const known = new Set(before.items.map(({ db_id }) => db_id));
  const isWhole = before.items.length >= before.total;
  // why: scrolling loads what follows the known rows
  const end = isWhole ? now.items.length : now.items.findLastIndex(({ db_id }) => known.has(db_id));
  return now.items.slice(0, Math.max(0, end)).flatMap(({ db_id }) => (known.has(db_id) ? [] : [db_id]));
}

/** The ids of containers that came into the list while it was shown: not of those that scrolling or a query brought. */
export function useArrivals(list: List): Set<string> {
  const before = useRef(list);
  const arrived = useRef(new Set<string>());
  if (before.current.items !== list.items) {
    for (const id of arrivedIn(before.current, list)) arrived.current.add(id);
    before.current = list;
  }
  return arrived.current;
}
