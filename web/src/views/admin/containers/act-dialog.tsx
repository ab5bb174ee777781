import { deleteContainerOf, restoreContainerOf, stopContainerOf } from '../../../api/admin.ts';
import type { Container } from '../../../api/types.ts';
import { toastOk, toastOutcome } from '../../../state/toasts.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { ConfirmedDialog } from '../people/confirmed-dialog.tsx';
import type { ActDialogProps } from './act-dialog-props.ts';
import type { AdminContainerAct } from './container-row.tsx';
import { GiveDialog } from './give-dialog.tsx';

/** The question before an act on somebody's container. */
export function ActDialog({ act, ...props }: ActDialogProps & { readonly act: AdminContainerAct }) {
  switch (act) {
    case 'stop':
      return <StopDialog {...props} />;
    case 'restore':
      return <RestoreDialog {...props} />;
    case 'delete':
      return <DeleteDialog {...props} />;
    case 'give':
      return <GiveDialog {...props} />;
    case 'only_owner':
      return null;
  }
}

const whose = ({ name, owner }: Container): string => `${name} of ${owner.username}`;

async function run(work: Promise<unknown>, done: string, failed: string, after: () => void): Promise<void> {
  await toastOutcome(work, done, failed);
  after();
}

function StopDialog({ container, onDone, onClose }: ActDialogProps) {
  const what = whose(container);
  const stop = (): void =>
    void run(stopContainerOf(container.db_id), `${what} is stopped`, `${what} could not be stopped`, onDone);
  return (
    <Confirm title={`Stop ${what}?`} action="Stop" danger onConfirm={stop} onClose={onClose}>
      <p>
        Its programs end and its terminals close. Files stay. {container.owner.username} sees that an
        administrator stopped it, and can start it again.
      </p>
    </Confirm>
  );
}

async function restore(container: Container, onDone: () => void): Promise<void> {
  const what = whose(container);
  await run(
    restoreContainerOf(container.db_id),
    `${what} is restored`,
    `${what} could not be restored`,
    onDone,
  );
}

function RestoreDialog({ container, onDone, onClose }: ActDialogProps) {
  return (
    <Confirm
      title={`Restore ${whose(container)}?`}
      action="Restore"
      onConfirm={() => void restore(container, onDone)}
      onClose={onClose}
    >
      <p>It belongs to {container.owner.username} again, stopped, with its files.</p>
    </Confirm>
  );
}

function DeleteDialog({ container, onDone, onClose }: ActDialogProps) {
  const { db_id, owner } = container;
  const undo = { label: 'Undo', run: () => void restore(container, onDone) };
  return (
    <ConfirmedDialog
      title={`Delete ${whose(container)}?`}
      action="Delete"
      busy="Deleting"
      danger
      work={(proof) => deleteContainerOf(db_id, proof)}
      onDone={() => {
        toastOk(`${whose(container)} is deleted`, undo);
        onDone();
      }}
      onClose={onClose}
    >
      {() => (
        <p>
          The container is stopped and removed, with everything that was installed outside{' '}
          <code>/workspace</code>. The files in <code>/workspace</code> are kept for some days, and{' '}
          {owner.username} can restore it.
        </p>
      )}
    </ConfirmedDialog>
  );
}
