import { useState } from 'preact/hooks';
import { purgeContainer } from '../../api/containers.ts';
import type { Container } from '../../api/types.ts';
import { toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useSubmit } from '../auth/use-submit.ts';

type PurgeProps = {
  readonly container: Container;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

const NAME_INPUT = {
  name: 'name',
  autocomplete: 'off',
  autocapitalize: 'none',
  spellcheck: false,
  maxLength: 64,
  'data-autofocus': true,
} as const;

/** Erases what is kept of a deleted container, once its name was typed. */
export function PurgeDialog({ container: { db_id, name }, onDone, onClose }: PurgeProps) {
  const [typed, setTyped] = useState('');
  const form = useSubmit(async () => {
    await purgeContainer(db_id, typed.trim());
    toastOk(
      `${name} is permanently deleted. Its space is usually freed within a minute, at most within an hour.`,
    );
    onClose();
    onDone();
  }, ['name']);
  return (
    <Dialog title={`Delete ${name} permanently?`} onClose={onClose} locked={form.busy} narrow>
      <form onSubmit={(event) => void form.submit(event)} novalidate>
        <div class="dialog-body">
          <p>
            Its files in <code>/workspace</code> are erased. This cannot be undone.
          </p>
          {form.failure !== null && <Problem failure={form.failure} />}
          <TextField
            label={`Type ${name} to confirm`}
            value={typed}
            onInput={setTyped}
            error={form.faults['name'] && `That is not the name. Type ${name}.`}
            input={NAME_INPUT}
          />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose} disabled={form.busy}>
            Cancel
          </Button>
          <Button kind="danger" type="submit" busy={form.busy ? 'Deleting' : undefined}>
            Delete permanently
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
