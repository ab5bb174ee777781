import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useSubmit } from '../auth/use-submit.ts';

type RenameProps = {
  readonly title: string;
  readonly name: string;
  readonly work: (name: string) => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

const INPUT = { name: 'name', autocomplete: 'off', required: true, 'data-autofocus': true } as const;

export function RenameDialog({ title, name: before, work, onDone, onClose }: RenameProps) {
  const [name, setName] = useState(before);
  const form = useSubmit(async () => {
    await work(name.trim());
    onDone();
    onClose();
  }, ['name']);
  return (
    <Dialog title={title} onClose={onClose} narrow>
      <form onSubmit={(event) => void form.submit(event)}>
        <div class="dialog-body">
          {form.failure !== null && <Problem failure={form.failure} />}
          <TextField label="Name" value={name} onInput={setName} error={form.faults['name']} input={INPUT} />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={form.busy ? 'Saving' : undefined}>
            Rename
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
