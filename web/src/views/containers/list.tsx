import { useRef } from 'preact/hooks';
import type { Container } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { AgentRow, isAgent } from './agents/agent-row.tsx';
import { type ContainerAction, Row } from './row.tsx';

type ListProps = {
  readonly containers: readonly Container[];
  readonly onAction: (action: ContainerAction) => void;
};

/** The rows; the arrow keys move between their names. */
export function ContainerList({ containers, onAction }: ListProps) {
  const list = useRef<HTMLUListElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined || !(event.target as Element).matches('.row-name')) return;
    event.preventDefault();
    const names = [...(list.current?.querySelectorAll<HTMLElement>('.row-name') ?? [])];
    names[names.indexOf(event.target as HTMLElement) + by]?.focus();
  };
  return (
    <ul class="rows" ref={list} onKeyDown={onKeyDown} aria-label="Containers">
      {containers.map((container) =>
        isAgent(container) ? (
          <AgentRow key={container.db_id} container={container} onAction={onAction} />
        ) : (
          <Row key={container.db_id} container={container} onAction={onAction} />
        ),
      )}
    </ul>
  );
}

/** Shown while the list loads. */
export function ListSkeleton() {
  return (
    <div class="rows" role="status" aria-label="Loading your containers">
      {[0, 1, 2].map((row) => (
        <div class="row skeleton" key={row}>
          <div class="row-main">
            <span class="bone wide" />
            <span class="bone" />
          </div>
          <span class="bone" />
        </div>
      ))}
    </div>
  );
}

type EmptyProps = {
  readonly onCreate: () => void;
  /** Whether some can be restored. */
  readonly hasDeleted: boolean;
};

export function EmptyList({ onCreate, hasDeleted }: EmptyProps) {
  if (hasDeleted) {
    return (
      <div class="empty">
        <Icon name="anchor" size={44} />
        <h2>No containers</h2>
        <p>
          Create one, or restore one that was <a href="/deleted">recently deleted</a>.
        </p>
        <Button kind="primary" icon="plus" onClick={onCreate}>
          Create a container
        </Button>
      </div>
    );
  }
  return (
    <div class="empty">
      <Icon name="anchor" size={44} />
      <h2>No containers yet</h2>
      <p>
        A container is your own Linux machine, isolated from those of other users. It starts in seconds, and
        files in <code>/workspace</code> are kept.
      </p>
      <Button kind="primary" icon="plus" onClick={onCreate}>
        Create your first container
      </Button>
    </div>
  );
}

export function NothingFound({ filter, onClear }: { filter: string; onClear: () => void }) {
  return (
    <div class="empty small">
      <p>
        Nothing matches <strong>{filter}</strong>.
      </p>
      <Button onClick={onClear}>Show all</Button>
    </div>
  );
}
