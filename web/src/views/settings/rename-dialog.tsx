import { TextField } from '../../ui/fields/field.tsx';
import { useForm } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';

type RenameProps = {
  readonly title: string;
  readonly name: string;
  readonly work: (name: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

const INPUT = { name: 'name', autocomplete: 'off', required: true, 'data-autofocus': true } as const;

export function RenameDialog({ title, name: before, work, onDone, onClose }: RenameProps) {
  const form = useForm({ name: before }, async ({ name }) => {
    await work(name.trim());
    onDone();
    onClose();
  });
  return (
    <FormDialog title={title} form={form} action="Rename" busy="Saving" onClose={onClose} narrow>
      <TextField label="Name" {...form.field('name')} input={INPUT} />
    </FormDialog>
  );
}
