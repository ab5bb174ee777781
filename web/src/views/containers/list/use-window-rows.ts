import {
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  type VirtualizerOptions,
  windowScroll,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useReducer, useState } from 'preact/hooks';
import { compactRows } from '../../../lib/browser/preferences.ts';
import { useKeptRow } from './use-kept-row.ts';

type RowsProps = {
  readonly count: number;
  /** What of them is loaded, from the start. */
  readonly items: readonly { readonly db_id: string }[];
  /** The list; it begins anywhere on the page. */
  readonly list: RefObject<HTMLElement | null>;
};

const OVERSCAN = 10;

/** The width from which each row is one of a table. */
const TABLE_PX = 800;

/** The height of a row before it is measured; a table's has a line above it. */
function estimatePx(list: HTMLElement | null): number {
  if ((list?.clientWidth ?? 0) < TABLE_PX) return 150;
  return compactRows.value ? 41 : 65;
}

/** The rows of a long list that are near the window; the page itself scrolls. */
export function useWindowRows({ count, items, list }: RowsProps) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  // why: to read the width for each row makes the browser lay out the page as often
  const rowPx = estimatePx(list.current);
  // why: with another function, the rows' positions are all computed again
  const keyOf = useCallback((index: number) => items[index]?.db_id ?? `${index}`, [items, rowPx]);
  const options: VirtualizerOptions<Window, HTMLElement> = {
    count,
    getItemKey: keyOf,
    estimateSize: () => rowPx,
    overscan: OVERSCAN,
    scrollMargin: list.current?.offsetTop ?? 0,
    getScrollElement: () => window,
    initialRect: { width: window.innerWidth, height: window.innerHeight },
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
    onChange: () => redraw(undefined),
  };
  const [rows] = useState(() => new Virtualizer(options));
  useKeptRow(rows, list, compactRows.value);
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  const shown = rows.getVirtualItems();
  const start = (shown[0]?.start ?? 0) - (rows.options.scrollMargin ?? 0);
  const end = (shown.at(-1)?.end ?? 0) - (rows.options.scrollMargin ?? 0);
  return {
    indexes: shown.map(({ index }) => index),
    measure: rows.measureElement,
    abovePx: Math.max(0, start),
    belowPx: Math.max(0, rows.getTotalSize() - end),
  };
}
