import { useState } from 'preact/hooks';
import type { Container } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { keptFacts } from '../../../lib/format/deleted-container-facts.ts';
import { changes, restore } from '../../../state/containers.ts';
import { me } from '../../../state/profile.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { useHeadingFocus } from '../../../ui/hooks/use-heading-focus.ts';
import { useTitle } from '../../../ui/hooks/use-title.ts';
import { AllContainersLink, Page } from '../../../ui/page.tsx';
import { Item, Items, Section } from '../../../ui/section.tsx';
import { PurgeDialog } from './purge-dialog.tsx';
import { useDeleted } from './use-deleted.ts';

const LEAD =
  'Their files in /workspace are kept for a while and count against your tier. Restore a container, or delete it permanently to free its space.';
const GUEST_LEAD =
  'You are a guest: deleted containers are permanently deleted within an hour. Until then you can restore them, and they count against your tier.';
/** Deleted containers that can still be restored. */
export function DeletedPage() {
  const list = useDeleted();
  const [purging, setPurging] = useState<Container | null>(null);
  const heading = useHeadingFocus();
  useTitle('Recently deleted');
  const onGone = (): void => void list.reload();
  return (
    <Page title="Recently deleted" heading={heading} beside={<AllContainersLink />}>
      <Section title="Kept for now" lead={me.value?.guest_until ? GUEST_LEAD : LEAD}>
        <Items
          of={list}
          none="There are no deleted containers to restore."
          row={(container) => (
            <Kept
              key={container.db_id}
              container={container}
              onChanged={onGone}
              onPurge={() => setPurging(container)}
            />
          )}
        />
      </Section>
      {purging && <PurgeDialog container={purging} onDone={onGone} onClose={() => setPurging(null)} />}
    </Page>
  );
}

type KeptProps = {
  readonly container: Container;
  readonly onChanged: () => void;
  readonly onPurge: () => void;
};

function Kept({ container, onChanged, onPurge }: KeptProps) {
  const isRestoring = changes.value[container.db_id] !== undefined;
  return (
    <Item title={container.name} facts={keptFacts(container, now.value)}>
      <Button
        busy={isRestoring ? 'Restoring' : undefined}
        onClick={() => void restore(container).then(onChanged)}
      >
        Restore<span class="visually-hidden"> {container.name}</span>
      </Button>
      <IconButton
        icon="trash"
        label={`Delete ${container.name} permanently`}
        onClick={onPurge}
        disabled={isRestoring}
      />
    </Item>
  );
}
