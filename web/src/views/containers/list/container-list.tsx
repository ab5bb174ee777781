import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Container } from '../../../api/types.ts';
import { compactRows } from '../../../lib/browser/preferences.ts';
import {
  containers,
  failedPages,
  listFailure,
  loadMore,
  lookAt,
  nextCursor,
  shownQuery,
  totalFound,
} from '../../../state/container-list.ts';
import { followFigures } from '../../../state/figures.ts';
import { AgentRow, isAgent } from '../agents/agent-row.tsx';
import { type ContainerAction, Row } from './row.tsx';
import { useArrivals } from './use-arrivals.ts';
import { useWindowRows } from './use-window-rows.ts';

type ListProps = { readonly onAction: (action: ContainerAction) => void };

/** Of a list of containers. */
export const rowsClass = (): string => (compactRows.value ? 'rows compact' : 'rows');

/** The found containers, of which only those near the window are drawn; the arrow keys move between their names. */
export function ContainerList({ onAction }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const loaded = containers.value ?? [];
  const next = nextCursor.value;
  const total = next === null ? loaded.length : Math.max(totalFound.value, loaded.length);
  const { indexes, measure, abovePx, belowPx } = useWindowRows({
    count: total,
    items: loaded,
    list,
  });
  const [first, last] = [indexes[0] ?? 0, indexes.at(-1) ?? 0];
  const isBeyond = last >= loaded.length && listFailure.value === null;
  useEffect(() => {
    if (isBeyond) void loadMore();
  }, [isBeyond, loaded, next, failedPages.value]);
  useEffect(() => lookAt(first, last), [first, last]);
  const arrived = useArrivals({ items: loaded, query: shownQuery.value, total });
  const onAnimationEnd = ({ animationName, target }: AnimationEvent): void => {
    const row = animationName === 'arrive' ? (target as Element).closest('li') : null;
    // why: scrolling back to it must not repeat it
    if (row !== null) arrived.delete(loaded[Number(row.dataset['index'])]?.db_id ?? '');
  };
  useFigures(indexes.flatMap((index) => loaded[index] ?? []));
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || !(event.target as Element).matches('.row-name')) return;
    event.preventDefault();
    const names = [...(list.current?.querySelectorAll<HTMLElement>('.row-name') ?? [])];
    names[names.indexOf(event.target as HTMLElement) + by]?.focus();
  };
  return (
    <ul
      class={rowsClass()}
      ref={list}
      onKeyDown={onKeyDown}
      onAnimationEnd={onAnimationEnd}
      aria-label="Containers"
      style={{ paddingTop: `${abovePx}px`, paddingBottom: `${belowPx}px` }}
    >
      {indexes.map((index) => (
        <li
          key={loaded[index]?.db_id ?? index}
          ref={measure}
          class={arrived.has(loaded[index]?.db_id ?? '') ? 'arrived' : undefined}
          data-index={index}
          aria-setsize={total}
          aria-posinset={index + 1}
        >
          <RowOf container={loaded[index]} onAction={onAction} />
        </li>
      ))}
    </ul>
  );
}

function RowOf({ container, onAction }: ListProps & { container: Container | undefined }): JSX.Element {
  if (container === undefined) return <Bones />;
  if (isAgent(container)) return <AgentRow container={container} onAction={onAction} />;
  return <Row container={container} onAction={onAction} />;
}

/** Follows the figures of the running ones on screen. */
function useFigures(shown: readonly Container[]): void {
  const ids = shown.filter((one) => one.status === 'running' && !isAgent(one)).map(({ db_id }) => db_id);
  const key = ids.join();
  useEffect(() => {
    let stop = (): void => {};
    // why: while somebody scrolls, rows come and go faster than their figures
    const timer = setTimeout(() => {
      stop = followFigures(ids);
    }, 200);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [key]);
}

const Bones = () => (
  <div class="row skeleton">
    <div class="row-main">
      <span class="bone wide" />
      <span class="bone" />
    </div>
    <span class="bone" />
  </div>
);

/** Shown while the list loads. */
export function ListSkeleton() {
  return (
    <div class={rowsClass()} role="status" aria-label="Loading your containers">
      {[0, 1, 2].map((row) => (
        <Bones key={row} />
      ))}
    </div>
  );
}
