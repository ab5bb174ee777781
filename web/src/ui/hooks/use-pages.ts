import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../../api/calls.ts';

type Row = { readonly id: unknown };

type Shown<T> = {
  /** null before the first page. */
  readonly items: readonly T[] | null;
  readonly next: string | null;
};

const NOTHING: Shown<never> = { items: null, next: null };

const joined = <T extends Row>(before: readonly T[], more: readonly T[]): readonly T[] => {
  const known = new Set(before.map(({ id }) => id));
  return [...before, ...more.filter(({ id }) => !known.has(id))];
};

/** Does one thing after the other. What waits is given up when `restart` is called. */
function useTurns() {
  const round = useRef(0);
  const last = useRef(Promise.resolve());
  const [waiting, setWaiting] = useState(0);
  const restart = (): void => {
    round.current += 1;
    last.current = Promise.resolve();
    setWaiting(0);
  };
  const after = (work: (isCurrent: () => boolean) => Promise<void>): Promise<void> => {
    const mine = round.current;
    const isCurrent = (): boolean => mine === round.current;
    setWaiting((count) => count + 1);
    last.current = last.current.then(async () => {
      if (!isCurrent()) return;
      await work(isCurrent);
      if (isCurrent()) setWaiting((count) => count - 1);
    });
    return last.current;
  };
  return { after, restart, busy: waiting > 0 };
}

/**
 * A list that comes in pages, `null` before the first. `load` gets the cursor of the page before, null for the first. When
 * `key` changes, the list starts over; the old one stays until the new one is there.
 */
export function usePages<T extends Row>(load: (cursor: string | null) => Promise<Page<T>>, key = '') {
  const newest = useRef<Shown<T>>(NOTHING);
  const [shown, setShown] = useState<Shown<T>>(NOTHING);
  const [failure, setFailure] = useState<unknown>(null);
  const { after, restart, busy } = useTurns();
  const show = (items: readonly T[] | null, next: string | null): void => {
    newest.current = { items, next };
    setShown(newest.current);
  };
  const read = (work: () => Promise<Shown<T>>): Promise<void> =>
    after(async (isCurrent) => {
      try {
        const { items, next } = await work();
        if (!isCurrent()) return;
        show(items, next);
        setFailure(null);
      } catch (reason) {
        if (isCurrent()) setFailure(reason);
      }
    });
  /** From the start, at least so many rows. */
  const start = async (least: number): Promise<Shown<T>> => {
    let { items, next } = await load(null);
    while (next !== null && items.length < least) {
      const page = await load(next);
      items = joined(items, page.items);
      next = page.next;
    }
    return { items, next };
  };
  const more = async (): Promise<Shown<T>> => {
    const { items, next } = newest.current;
    if (items === null || next === null) return newest.current;
    const page = await load(next);
    return { items: joined(items, page.items), next: page.next };
  };
  useEffect(() => {
    restart();
    void read(() => start(0));
  }, [key]);
  return {
    value: shown.items,
    failure,
    busy,
    /** Reads all again that is shown. */
    reload: () => read(() => start(newest.current.items?.length ?? 0)),
    more: shown.next === null ? null : () => void read(more),
    /** Puts the newer states of some items into the list. */
    update: (newer: readonly T[]): void => {
      const { items, next } = newest.current;
      show(items?.map((one) => newer.find(({ id }) => id === one.id) ?? one) ?? null, next);
    },
  };
}
