import { useEffect, useRef } from 'preact/hooks';
import type { AdminContainerPage } from '../../../api/admin.ts';
import { rowsClass } from '../../containers/list/container-list.tsx';
import { useWindowRows } from '../../containers/list/use-window-rows.ts';
import { ContainerRow, type ContainerRowProps } from './container-row.tsx';

type ListProps = {
  readonly list: AdminContainerPage;
  readonly onMore: () => void;
  readonly onAct: ContainerRowProps['onAct'];
};

/** The found containers, of which only those near the window are drawn. */
export function AllContainersList({ list: { items, total }, onMore, onAct }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const { indexes, measure, abovePx, belowPx } = useWindowRows({
    count: Math.max(total, items.length),
    keyOf: (index) => items[index]?.db_id ?? `${index}`,
    list,
  });
  const isBeyond = (indexes.at(-1) ?? 0) >= items.length;
  useEffect(() => {
    if (isBeyond) onMore();
  }, [isBeyond, items]);
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
