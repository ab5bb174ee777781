import { useEffect, useRef, useState } from 'preact/hooks';
import type { Page } from '../../api/calls.ts';

/**
 * A list that comes in pages, `null` before the first. `load` gets the cursor of the page before, null for the first. When
 * `key` changes, the list starts over; the old one stays until the new one is there.
 */
export function usePages<T extends { readonly id: unknown }>(
  load: (cursor: string | null) => Promise<Page<T>>,
  key = '',
) {
  const [value, setValue] = useState<readonly T[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const latest = useRef(0);
  const read = async (from: string | null): Promise<void> => {
    latest.current += 1;
    const turn = latest.current;
    setBusy(true);
    try {
      const { items, next } = await load(from);
      if (turn !== latest.current) return;
      setValue((before) => [...(from === null ? [] : (before ?? [])), ...items]);
      setCursor(next);
      setFailure(null);
    } catch (reason) {
      if (turn === latest.current) setFailure(reason);
    }
    if (turn === latest.current) setBusy(false);
  };
  useEffect(() => void read(null), [key]);
  return {
    value,
    failure,
    busy,
    reload: () => read(null),
    more: cursor === null ? null : () => void read(cursor),
    /** Puts the newer states of some items into the list. */
    update: (newer: readonly T[]): void =>
      setValue((before) => before?.map((one) => newer.find(({ id }) => id === one.id) ?? one) ?? null),
  };
}
