import { useRef } from 'preact/hooks';
import { randomKey } from '../../../../src/client/random-key.ts';
import { createContainer } from '../../api/containers/containers.ts';
import { deleteSnapshot } from '../../api/containers/snapshots.ts';
import type { Snapshot } from '../../api/types.ts';
import { navigate } from '../../lib/browser/router.ts';
import { toastFailure, toastOk } from '../../state/toasts.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { useForm } from '../auth/use-submit.ts';
import { NameField } from '../containers/name-field.tsx';
import { FormDialog } from '../form-dialog.tsx';

type UseProps = { readonly snapshot: Snapshot; readonly onClose: () => void };

/** Makes a container of the snapshot, and goes to its shell. */
export function UseSnapshotDialog({ snapshot: { id, name: of }, onClose }: UseProps) {
  const sent = useRef({ name: '', key: randomKey() });
  const form = useForm({ name: '' }, async ({ name: typed }) => {
    const name = typed.trim();
    if (sent.current.name !== name) sent.current = { name, key: randomKey() };
    const made = await createContainer({ name, snapshot_id: id }, sent.current.key);
    onClose();
    if (made.status === 'running') return navigate(`/containers/${made.db_id}`);
    toastOk(`${name} is being prepared; the list shows when it is ready`);
    navigate('/');
  });
  return (
    <FormDialog
      title={`New container from ${of}`}
      form={form}
      action="Create"
      busy="Creating"
      onClose={onClose}
      novalidate
      narrow
      lead={<p>It starts with the files, installed software and limits of the snapshot.</p>}
    >
      <NameField {...form.field('name')} hint="Letters, digits and hyphens." />
    </FormDialog>
  );
}

type DeleteProps = UseProps & { readonly onDone: () => void };

export function DeleteSnapshotDialog({ snapshot: { id, name }, onDone, onClose }: DeleteProps) {
  const remove = (): Promise<void> =>
    deleteSnapshot(id).then(() => {
      toastOk(`${name} is deleted`);
      onDone();
    }, toastFailure);
  return (
    <Confirm
      title={`Delete the snapshot ${name}?`}
      action="Delete"
      danger
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>No new containers can be made from it. Those already made from it stay.</p>
    </Confirm>
  );
}
