import { useState } from 'preact/hooks';
import type { Snapshot } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { snapshotFacts } from '../../lib/format/snapshot-facts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Item, Items, Section } from '../../ui/section.tsx';
import { DeleteSnapshotDialog, UseSnapshotDialog } from './snapshot-dialogs.tsx';
import { useSnapshots } from './use-snapshots.ts';

type Open = { readonly what: 'use' | 'delete'; readonly snapshot: Snapshot };

/** The user's snapshots. */
export function SnapshotsPage() {
  const list = useSnapshots();
  const [open, setOpen] = useState<Open | null>(null);
  const close = (): void => setOpen(null);
  useTitle('Snapshots');
  return (
    <div class="page">
      <div class="page-head">
        <h1>Snapshots</h1>
        <a class="button plain" href="/">
          All containers
        </a>
      </div>
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
      {open?.what === 'use' && <UseSnapshotDialog snapshot={open.snapshot} onClose={close} />}
      {open?.what === 'delete' && (
        <DeleteSnapshotDialog snapshot={open.snapshot} onDone={() => void list.reload()} onClose={close} />
      )}
    </div>
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
