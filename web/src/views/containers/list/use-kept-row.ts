import type { Virtualizer } from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

type Rows = Virtualizer<Window, HTMLElement>;

/** What the bar at the top of the window covers. */
const BAR_PX = 52;

/** The row that has the focus, or else the first one in sight. */
function rowToKeep(rows: Rows, list: HTMLElement | null, offset: number): number {
  const focused = [...(list?.children ?? [])].find((row) => row.contains(document.activeElement));
  const seen = rows.getVirtualItemForOffset(offset + BAR_PX)?.index ?? 0;
  return focused instanceof HTMLElement ? Number(focused.dataset['index'] ?? seen) : seen;
}

/**
 * Remeasures all rows when `form` changes, and keeps one of them at its position in the window. Called before the rows get
 * their new options.
 */
export function useKeptRow(rows: Rows, list: RefObject<HTMLElement | null>, form: unknown): void {
  const shown = useRef(form);
  const kept = useRef<{ readonly index: number; readonly belowTopPx: number } | null>(null);
  const scrollTo = useRef<number | null>(null);
  if (shown.current !== form) {
    shown.current = form;
    const offset = rows.scrollOffset ?? 0;
    const index = rowToKeep(rows, list.current, offset);
    kept.current = { index, belowTopPx: startOf(rows, index) - offset };
  }
  useLayoutEffect(() => {
    if (scrollTo.current === null) return;
    // why: only now the page has its new height
    window.scrollTo({ top: scrollTo.current, behavior: 'instant' });
    scrollTo.current = null;
  });
  useLayoutEffect(() => {
    if (kept.current === null) return;
    rows.measure();
    rows.getTotalSize();
    scrollTo.current = startOf(rows, kept.current.index) - kept.current.belowTopPx;
    // why: else the next rows are those at the old offset, and the focus goes with its row
    rows.scrollOffset = Math.max(0, scrollTo.current);
    kept.current = null;
  }, [form]);
}

const startOf = (rows: Rows, index: number): number => rows.measurementsCache[index]?.start ?? 0;
