import { useEffect, useRef } from 'preact/hooks';
import type { AdminContainerPage } from '../../../api/admin.ts';
import { rowsClass } from '../../containers/list/container-list.tsx';
import { useWindowRows } from '../../containers/list/use-window-rows.ts';
import { ContainerRow, type ContainerRowProps } from './container-row.tsx';

type ListProps = {
  readonly list: AdminContainerPage;
  /** Whether the list may be old: no more of it is loaded meanwhile. */
  readonly isFailed: boolean;
  readonly onMore: () => void;
  /** Called with the first and the last row on screen. */
  readonly onView: (first: number, last: number) => void;
  readonly onAct: ContainerRowProps['onAct'];
};

/** The found containers, of which only those near the window are drawn. */
export function AllContainersList({ list: shown, isFailed, onMore, onView, onAct }: ListProps) {
  const { items, next } = shown;
  const total = next === null ? items.length : Math.max(shown.total, items.length);
  const list = useRef<HTMLUListElement>(null);
  const { indexes, measure, abovePx, belowPx } = useWindowRows({
    count: total,
    items,
    list,
  });
  const [first, last] = [indexes[0] ?? 0, indexes.at(-1) ?? 0];
  const isBeyond = last >= items.length && !isFailed;
  useEffect(() => {
    if (isBeyond) onMore();
  }, [isBeyond, items, next]);
  useEffect(() => onView(first, last), [first, last]);
  return (
    <ul
      class={rowsClass()}
      ref={list}
      aria-label="Containers of everybody"
      style={{ paddingTop: `${abovePx}px`, paddingBottom: `${belowPx}px` }}
    >
      {indexes.map((index) => {
        const container = items[index];
        return (
          <li
            key={container?.db_id ?? index}
            ref={measure}
            data-index={index}
            aria-setsize={total}
            aria-posinset={index + 1}
          >
            {container === undefined ? (
              <div class="row skeleton" />
            ) : (
              <ContainerRow container={container} onAct={onAct} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
