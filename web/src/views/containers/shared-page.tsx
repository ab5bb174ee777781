import { useEffect } from 'preact/hooks';
import { switchRows } from '../../lib/browser/preferences.ts';
import {
  containers,
  followContainers,
  listFailure,
  SHARED,
  showContainers,
  shownQuery,
} from '../../state/container-list.ts';
import { useHotkeys } from '../../ui/hooks/use-hotkeys.ts';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Icon } from '../../ui/icon.tsx';
import { Page } from '../../ui/page.tsx';
import { ContainerList, ListSkeleton } from './list/container-list.tsx';
import { ListFailure } from './list/list-failure.tsx';
import { useContainerActions } from './use-container-actions.tsx';

/** Containers whose terminals other users share with this one. */
export function SharedPage() {
  const [onAction, dialog] = useContainerActions();
  useEffect(() => {
    showContainers(SHARED);
    return followContainers();
  }, []);
  useTitle('Shared with me');
  useHotkeys({ c: switchRows });
  const shared = shownQuery.value.shared === 'true' ? containers.value : null;
  return (
    <Page title="Shared with me">
      <ListFailure />
      {shared === null && listFailure.value === null && <ListSkeleton />}
      {shared?.length === 0 && <NothingShared />}
      {shared !== null && shared.length > 0 && <ContainerList onAction={onAction} />}
      {dialog}
    </Page>
  );
}

const NothingShared = () => (
  <div class="empty">
    <Icon name="share" size={44} />
    <h2>Nothing is shared with you</h2>
    <p>When somebody sends you a link to a terminal, open it to join. The terminal is then listed here.</p>
  </div>
);
