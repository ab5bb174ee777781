import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type AdminContainerPage,
  type AdminContainerQuery,
  pageOfAllContainers,
} from '../../../api/admin.ts';
import { type Polling, poll } from '../../../state/poll.ts';

const EVERY_MS = 5_000;
/** A longer list is read again less often, since each reading is of all of it. */
const LONG = 400;
const LONG_EVERY_MS = 30_000;

type Loaded = AdminContainerPage & { readonly query: AdminContainerQuery };

/** Reads from the start, at least as many as are loaded. */
async function readFromStart(query: AdminContainerQuery, least: number): Promise<Loaded> {
  let page = await pageOfAllContainers(query, null);
  const items = [...page.items];
  while (page.next !== null && items.length < least) {
    page = await pageOfAllContainers(query, page.next);
    items.push(...page.items);
  }
  return { query, items, next: page.next, total: page.total };
}

/**
 * The loaded start of the list, null before it, read again at an interval while the page is visible: changes of other
 * people's containers have no event for administrators. The old list stays until the one of a new query has come.
 */
export function useAllContainers(query: AdminContainerQuery) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const now = useRef<Loaded | null>(null);
  const polling = useRef<Polling | null>(null);
  const isLoading = useRef(false);
  const show = (next: Loaded): void => {
    now.current = next;
    setLoaded(next);
    setFailure(null);
  };
  const key = JSON.stringify(query);
  useEffect(() => {
    let isStopped = false;
    const read = async (): Promise<void> => {
      try {
        const before = now.current;
        const least = JSON.stringify(before?.query) === key ? (before?.items.length ?? 0) : 0;
        const next = await readFromStart(query, least);
        if (!isStopped) show(next);
      } catch (reason) {
        if (!isStopped) setFailure(reason);
      }
    };
    const mine = poll(read, () => ((now.current?.items.length ?? 0) > LONG ? LONG_EVERY_MS : EVERY_MS));
    polling.current = mine;
    return () => {
      isStopped = true;
      mine.stop();
    };
  }, [key]);

  const more = async (): Promise<void> => {
    const before = now.current;
    if (before === null || before.next === null || isLoading.current) return;
    isLoading.current = true;
    try {
      const { items, next, total } = await pageOfAllContainers(before.query, before.next);
      // why: another reading was faster, and has what this one continues
      if (now.current === before) show({ ...before, items: [...before.items, ...items], next, total });
    } catch (reason) {
      setFailure(reason);
    } finally {
      isLoading.current = false;
    }
  };
  const reload = async (): Promise<void> => await polling.current?.now();
  return { value: loaded, failure, more, reload };
}
