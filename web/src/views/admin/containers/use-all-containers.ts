import { useEffect, useRef, useState } from 'preact/hooks';
import { type AdminContainerQuery, pageOfAllContainers } from '../../../api/admin.ts';
import type { Container } from '../../../api/types.ts';
import { PartialList, type View } from '../../../state/list/partial-list.ts';
import { adminRulesOf } from '../../../state/list/rules.ts';
import { type Polling, poll } from '../../../state/poll.ts';

const EVERY_MS = 5_000;

const aList = () =>
  new PartialList<Container, AdminContainerQuery>({ readPage: pageOfAllContainers, rulesOf: adminRulesOf });

/**
 * The loaded start of the list, null before it, read again at an interval while the page is visible: changes of other
 * people's containers have no event for administrators. The old list stays until the one of a new query has come.
 */
export function useAllContainers(query: AdminContainerQuery) {
  const [list] = useState(aList);
  const [failure, setFailure] = useState<unknown>(null);
  const polling = useRef<Polling | null>(null);
  const view = useRef<View>([0, 0]);
  const wanted = useRef(query);
  const key = JSON.stringify(query);
  useEffect(() => {
    wanted.current = query;
    const isWanted = (): boolean => wanted.current === query;
    const read = (): Promise<void> =>
      list.refresh(query, view.current, isWanted).then(
        () => setFailure(null),
        (reason) => {
          if (isWanted()) setFailure(reason);
        },
      );
    const mine = poll(read, () => EVERY_MS);
    polling.current = mine;
    return mine.stop;
  }, [key]);

  const lookAt = (first: number, last: number): void => {
    view.current = [first, last];
    if (list.isLong(wanted.current) && list.isStaleIn(view.current)) polling.current?.soon();
  };
  return {
    value: list.loaded.value,
    failure,
    lookAt,
    more: (): Promise<void> => list.readMore().catch(setFailure),
    reload: async (): Promise<void> => await polling.current?.now(),
  };
}
