import { purgeContainer } from '../../../api/containers/containers.ts';
import type { Container } from '../../../api/types.ts';
import { toastOk } from '../../../state/toasts.ts';
import { useForm } from '../../auth/use-submit.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { NameField } from '../name-field.tsx';

type PurgeProps = {
  readonly container: Container;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

/** Permanently deletes what is kept of a deleted container, once its name was typed. */
export function PurgeDialog({ container: { db_id, name }, onDone, onClose }: PurgeProps) {
  const form = useForm({ name: '' }, async ({ name: typed }) => {
    await purgeContainer(db_id, typed.trim());
    toastOk(
      `${name} is permanently deleted. Its space is usually freed within a minute, at most within an hour.`,
    );
    onClose();
    onDone();
  });
  return (
    <FormDialog
      title={`Delete ${name} permanently?`}
      form={form}
      action="Delete permanently"
      busy="Deleting"
      onClose={onClose}
      danger
      novalidate
      narrow
      locked
      lead={
        <p>
          Its files in <code>/workspace</code> are deleted too. This cannot be undone.
        </p>
      }
    >
      <NameField
        label={`Type ${name} to confirm`}
        {...form.field('name')}
        error={form.faults['name'] && `That is not the name. Type ${name}.`}
      />
    </FormDialog>
  );
}
