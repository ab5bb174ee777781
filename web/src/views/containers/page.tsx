import { useEffect, useRef, useState } from 'preact/hooks';
import { stored } from '../../lib/browser/storage.ts';
import { plural } from '../../lib/format/format.ts';
import { session } from '../../session/session.ts';
import { followLabels, learnLabels } from '../../state/catalogue-labels.ts';
import {
  changeQuery,
  containers,
  followContainers,
  type ListQuery,
  listFailure,
  OWN,
  showContainers,
  shownQuery,
  totalFound,
  wantedQuery,
} from '../../state/container-list.ts';
import { Button } from '../../ui/button.tsx';
import { useHotkeys } from '../../ui/hooks/use-hotkeys.ts';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { AddAgentDialog } from './agents/add-agent-dialog.tsx';
import { CreateDialog } from './create-dialog.tsx';
import { useDeletedCount } from './deleted/use-deleted.ts';
import { EndNote } from './end-note.tsx';
import { GuestNote } from './guest-note.tsx';
import { ContainerList, ListSkeleton } from './list/container-list.tsx';
import { EmptyList, NothingFound } from './list/empty-list.tsx';
import { ListFailure } from './list/list-failure.tsx';
import { ListFilter } from './list/list-filter.tsx';
import { ListHead } from './list/list-head.tsx';
import type { ContainerAction } from './list/row.tsx';
import { useContainerActions } from './use-container-actions.tsx';

const isLimited = ({ q, status }: ListQuery): boolean => q !== '' || status !== '';

/** Loads what the list shows, and keeps it fresh. */
function useOwnContainers(): void {
  useEffect(() => {
    showContainers({ ...OWN, sort: stored('list_sort') ?? OWN.sort });
    return followContainers();
  }, []);
  useEffect(followLabels, []);
  useEffect(() => learnLabels(containers.value ?? []), [containers.value]);
}

/** `60 containers`, or how many of them the filter finds. */
function Count({ query }: { query: ListQuery }) {
  const count = totalFound.value;
  if (containers.value === null || (count === 0 && !isLimited(query))) return null;
  return <span class="count">{isLimited(query) ? `${count} found` : plural(count, 'container')}</span>;
}

/** The user's own containers. */
export function ContainersPage() {
  const [creating, setCreating] = useState(false);
  const [adding, setAdding] = useState(false);
  const [onAction, dialog] = useContainerActions();
  const filterInput = useRef<HTMLInputElement>(null);
  useOwnContainers();
  useTitle('Containers');
  const focusFirst = (): void => document.querySelector<HTMLElement>('.row-name')?.focus();
  useHotkeys({
    n: () => setCreating(true),
    '/': () => filterInput.current?.focus(),
    ArrowDown: focusFirst,
  });
  const query = shownQuery.value;
  const viewer = session.value;
  const isGuest = viewer.kind === 'signed_in' && viewer.user.email === null;
  const deletedCount = useDeletedCount();
  const isEmpty = totalFound.value === 0 && !isLimited(query);
  return (
    <div class="page">
      <div class="page-head">
        <h1 tabIndex={-1}>
          Containers <Count query={query} />
        </h1>
        <ListFilter query={wantedQuery.value} input={filterInput} hidden={isEmpty} />
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          New container
        </Button>
      </div>
      <GuestNote />
      <EndNote />
      <ListFailure />
      <ListBody onAction={onAction} onCreate={() => setCreating(true)} hasDeleted={deletedCount > 0} />
      {containers.value !== null && (
        <p class="page-foot">
          <a href="/deleted">Recently deleted{deletedCount > 0 && ` (${deletedCount})`}</a>
          {!isGuest && (
            <button type="button" class="row-again" onClick={() => setAdding(true)}>
              Add an agent
            </button>
          )}
        </p>
      )}
      {adding && <AddAgentDialog onClose={() => setAdding(false)} />}
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      {dialog}
    </div>
  );
}

type BodyProps = {
  readonly onAction: (action: ContainerAction) => void;
  readonly onCreate: () => void;
  readonly hasDeleted: boolean;
};

function ListBody({ onAction, onCreate, hasDeleted }: BodyProps) {
  const query = shownQuery.value;
  if (containers.value === null) return listFailure.value === null ? <ListSkeleton /> : null;
  if (totalFound.value > 0) {
    return (
      <div class="list">
        <ListHead query={query} />
        <ContainerList onAction={onAction} />
      </div>
    );
  }
  if (!isLimited(query)) return <EmptyList onCreate={onCreate} hasDeleted={hasDeleted} />;
  return <NothingFound text={query.q} onClear={() => changeQuery({ q: '', status: '' })} />;
}
