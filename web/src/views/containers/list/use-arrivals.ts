import { useRef } from 'preact/hooks';
import type { Container } from '../../../api/types.ts';
import type { ListQuery } from '../../../state/container-list.ts';

type List = {
  /** What of it is loaded. */
  readonly items: readonly Container[];
  readonly query: ListQuery;
  readonly total: number;
};

/** The ids of containers that came into the list while it was shown: not of those that scrolling or a query brought. */
export function useArrivals(list: List): Set<string> {
  const before = useRef(list);
  const arrived = useRef(new Set<string>());
  const { items, query, total } = before.current;
  if (items !== list.items) {
    before.current = list;
    const known = new Set(items.map(({ db_id }) => db_id));
    const isLonger = list.query === query && list.total > total;
    const added = isLonger ? list.items.filter(({ db_id }) => !known.has(db_id)) : [];
    for (const { db_id } of added) arrived.current.add(db_id);
  }
  return arrived.current;
}
