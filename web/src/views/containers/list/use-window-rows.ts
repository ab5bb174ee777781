import {
  observeWindowOffset,
  observeWindowRect,
  Virtualizer,
  type VirtualizerOptions,
  windowScroll,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useState } from 'preact/hooks';

type RowsProps = {
  readonly count: number;
  readonly keyOf: (index: number) => string;
  /** The list; it begins anywhere on the page. */
  readonly list: RefObject<HTMLElement | null>;
  /** A row's height before it is measured. */
  readonly estimatePx: number;
};

const OVERSCAN = 10;

/** The rows of a long list that are near the window; the page itself scrolls. */
export function useWindowRows({ count, keyOf, list, estimatePx }: RowsProps) {
  const [, redraw] = useReducer((turn: number) => turn + 1, 0);
  const options: VirtualizerOptions<Window, HTMLElement> = {
    count,
    getItemKey: keyOf,
    estimateSize: () => estimatePx,
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
  rows.setOptions(options);
  useLayoutEffect(() => rows._didMount(), []);
  useLayoutEffect(() => rows._willUpdate());
  const items = rows.getVirtualItems();
  const start = (items[0]?.start ?? 0) - (rows.options.scrollMargin ?? 0);
  const end = (items.at(-1)?.end ?? 0) - (rows.options.scrollMargin ?? 0);
  return {
    indexes: items.map(({ index }) => index),
    measure: rows.measureElement,
    abovePx: Math.max(0, start),
    belowPx: Math.max(0, rows.getTotalSize() - end),
  };
}
