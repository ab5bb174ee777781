import { useEffect, useRef } from 'preact/hooks';
import type { AdminContainerPage } from '../../../api/admin.ts';
import { useWindowRows } from '../../containers/list/use-window-rows.ts';
import { ContainerRow, type ContainerRowProps } from './container-row.tsx';

type ListProps = {
  readonly list: AdminContainerPage;
  readonly onMore: () => void;
  readonly onAct: ContainerRowProps['onAct'];
};

const WIDE_PX = 64;
const NARROW_PX = 150;

/** The found containers, of which only those near the window are drawn. */
export function AllContainersList({ list: { items, total }, onMore, onAct }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const { indexes, measure, abovePx, belowPx } = useWindowRows({
    count: Math.max(total, items.length),
    keyOf: (index) => items[index]?.db_id ?? `${index}`,
    list,
    estimatePx: (list.current?.clientWidth ?? WIDE_PX * 10) > NARROW_PX * 5 ? WIDE_PX : NARROW_PX,
  });
  const isBeyond = (indexes.at(-1) ?? 0) >= items.length;
  useEffect(() => {
    if (isBeyond) onMore();
  }, [isBeyond, items]);
  return (
    <ul
      class="rows"
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
