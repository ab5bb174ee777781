import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Container } from '../../api/types.ts';
import { plural } from '../../lib/format/format.ts';
import { containers, followContainers, listFailure } from '../../state/containers.ts';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useHotkeys } from '../../ui/use-hotkeys.ts';
import { useTitle } from '../../ui/use-title.ts';
import { AddAgentDialog } from './agents/add-agent-dialog.tsx';
import { CreateDialog } from './create-dialog.tsx';
import { useDeleted } from './deleted/use-deleted.ts';
import { ContainerList, EmptyList, ListSkeleton, NothingFound } from './list.tsx';
import { ListFailure } from './list-failure.tsx';
import type { ContainerAction } from './row.tsx';
import { useContainerActions } from './use-container-actions.tsx';

/** The containers of the signed-in user; null until they have come. */
const ownContainers = (): readonly Container[] | null =>
  containers.value?.filter(({ collaboration }) => collaboration === undefined) ?? null;

/** All containers of the signed-in user. */
export function ContainersPage() {
  const [creating, setCreating] = useState(false);
  const [adding, setAdding] = useState(false);
  const [onAction, dialog] = useContainerActions();
  const [filter, setFilter] = useState('');
  const filterInput = useRef<HTMLInputElement>(null);
  useEffect(followContainers, []);
  useTitle('Containers');
  const focusFirst = (): void => document.querySelector<HTMLElement>('.row-name')?.focus();
  useHotkeys({
    n: () => setCreating(true),
    '/': () => filterInput.current?.focus(),
    ArrowDown: focusFirst,
  });
  const all = ownContainers();
  const deletedCount = useDeleted().value?.length ?? 0;
  return (
    <div class="page">
      <div class="page-head">
        <h1>
          Containers{' '}
          {all !== null && all.length > 0 && <span class="count">{plural(all.length, 'container')}</span>}
        </h1>
        <FilterInput
          value={filter}
          onInput={setFilter}
          input={filterInput}
          hidden={all === null || all.length === 0}
        />
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New container
        </Button>
      </div>
      <ListFailure />
      <ListBody
        filter={filter}
        onClear={() => setFilter('')}
        onAction={onAction}
        onCreate={() => setCreating(true)}
        hasDeleted={deletedCount > 0}
      />
      {all !== null && (
        <p class="page-foot">
          <a href="/deleted">Recently deleted{deletedCount > 0 && ` (${deletedCount})`}</a>
          <button type="button" class="row-again" onClick={() => setAdding(true)}>
            Add an agent
          </button>
        </p>
      )}
      {adding && <AddAgentDialog onClose={() => setAdding(false)} />}
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      {dialog}
    </div>
  );
}

type BodyProps = {
  readonly filter: string;
  readonly onClear: () => void;
  readonly onAction: (action: ContainerAction) => void;
  readonly onCreate: () => void;
  readonly hasDeleted: boolean;
};

function ListBody({ filter, onClear, onAction, onCreate, hasDeleted }: BodyProps) {
  const all = ownContainers();
  if (all === null) return listFailure.value === null ? <ListSkeleton /> : null;
  if (all.length === 0) return <EmptyList onCreate={onCreate} hasDeleted={hasDeleted} />;
  const words = filter.toLowerCase().trim();
  const shown = all.filter(({ name, image, role, status }) =>
    `${name} ${image} ${role} ${status}`.toLowerCase().includes(words),
  );
  return shown.length === 0 ? (
    <NothingFound filter={filter} onClear={onClear} />
  ) : (
    <ContainerList containers={shown} onAction={onAction} />
  );
}

type FilterProps = {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly hidden: boolean;
};

function FilterInput({ value, onInput, input, hidden }: FilterProps) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape') return;
    onInput('');
    input.current?.blur();
  };
  return (
    <div class={hidden ? 'filter invisible' : 'filter'}>
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label="Filter containers"
        placeholder="Filter"
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        disabled={hidden}
      />
      <kbd>/</kbd>
    </div>
  );
}
