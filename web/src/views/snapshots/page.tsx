import { useState } from 'preact/hooks';
import { restoreSnapshot } from '../../api/containers/snapshots.ts';
import type { Snapshot } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { snapshotFacts } from '../../lib/format/snapshot-facts.ts';
import { toastFailure, toastOk } from '../../state/toasts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { useHeadingFocus } from '../../ui/hooks/use-heading-focus.ts';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { AllContainersLink, Page } from '../../ui/page.tsx';
import { Item, Items, Section } from '../../ui/section.tsx';
import { DeleteSnapshotDialog, UseSnapshotDialog } from './snapshot-dialogs.tsx';
import { useSnapshots } from './use-snapshots.ts';

type Open = { readonly what: 'use' | 'delete'; readonly snapshot: Snapshot };

/** The user's snapshots. */
export function SnapshotsPage() {
  const { list, deleted, reload } = useSnapshots();
  const heading = useHeadingFocus();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  useTitle('Snapshots');
  return (
    <Page title="Snapshots" heading={heading} beside={<AllContainersLink />}>
      <Section
        title="Your snapshots"
        lead="A container’s files and installed software at one moment. Containers made from a snapshot stay when you delete it."
      >
        <Items
          of={list}
          none="No snapshots yet. To take one, choose “Snapshot…” in a container’s menu."
          row={(snapshot) => (
            <Row
              key={snapshot.id}
              snapshot={snapshot}
              onUse={() => setOpen({ what: 'use', snapshot })}
              onDelete={() => setOpen({ what: 'delete', snapshot })}
            />
          )}
        />
      </Section>
      {deleted.value !== null && deleted.value.length > 0 && (
        <Section
          title="Recently deleted"
          lead="Kept for a while. A restored snapshot counts against your tier again."
        >
          <Items
            of={deleted}
            none=""
            row={(snapshot) => <Deleted key={snapshot.id} snapshot={snapshot} onRestored={reload} />}
          />
        </Section>
      )}
      {open?.what === 'use' && <UseSnapshotDialog snapshot={open.snapshot} onClose={close} />}
      {open?.what === 'delete' && (
        <DeleteSnapshotDialog snapshot={open.snapshot} onDone={() => void reload()} onClose={close} />
      )}
    </Page>
  );
}

type RowProps = {
  readonly snapshot: Snapshot;
  readonly onUse: () => void;
  readonly onDelete: () => void;
};

function Row({ snapshot, onUse, onDelete }: RowProps) {
  const { name, status } = snapshot;
  return (
    <Item title={name} facts={snapshotFacts(snapshot, now.value)}>
      {status === 'ready' && (
        <Button onClick={onUse}>
          New container<span class="visually-hidden"> from {name}</span>
        </Button>
      )}
      <IconButton icon="trash" label={`Delete ${name}`} onClick={onDelete} disabled={status === 'creating'} />
    </Item>
  );
}

type DeletedProps = { readonly snapshot: Snapshot; readonly onRestored: () => Promise<void> };

function Deleted({ snapshot, onRestored }: DeletedProps) {
  const [isRestoring, setRestoring] = useState(false);
  const restore = async (): Promise<void> => {
    setRestoring(true);
    try {
      await restoreSnapshot(snapshot.id);
      toastOk(`${snapshot.name} is restored`);
      await onRestored();
    } catch (reason) {
      toastFailure(reason);
    }
    setRestoring(false);
  };
  return (
    <Item title={snapshot.name} facts={snapshotFacts(snapshot, now.value)}>
      <Button busy={isRestoring ? 'Restoring' : undefined} onClick={() => void restore()}>
        Restore<span class="visually-hidden"> {snapshot.name}</span>
      </Button>
    </Item>
  );
}
