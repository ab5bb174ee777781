import { useRef, useState } from 'preact/hooks';
import { createContainer } from '../../api/containers.ts';
import { ApiError } from '../../api/errors.ts';
import type { NewContainer } from '../../api/types.ts';
import { suggestName } from '../../lib/names.ts';
import { randomKey } from '../../lib/random-key.ts';
import { navigate } from '../../lib/router.ts';
import { containers, refreshContainers } from '../../state/containers.ts';
import { toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useSubmit } from '../auth/use-submit.ts';
import { SizePicker } from './size-picker.tsx';
import { useCatalogue } from './use-catalogue.ts';

const FIELDS = ['name', 'image', 'role', 'memory_mb', 'cpu_shares', 'disk_mb'];

/** Creates, then goes to the new container's shell, or stays with the list while its image still comes. */
async function create(body: NewContainer, key: string, onClose: () => void): Promise<void> {
  const made = await createContainer(body, key);
  onClose();
  if (made.status === 'running') {
    navigate(`/containers/${made.db_id}`);
  } else {
    toastOk(`${made.name} is being prepared and will be in the list`);
    await refreshContainers();
  }
}

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const [body, setBody] = useState<NewContainer>(() => ({
    name: suggestName((containers.value ?? []).map(({ name }) => name)),
  }));
  const key = useRef(randomKey());
  const change = (part: Partial<NewContainer>): void => {
    key.current = randomKey();
    setBody((before) => ({ ...before, ...part }));
  };
  const catalogue = useCatalogue((preset) => change(preset));
  const form = useSubmit(async () => {
    try {
      await create(body, key.current, onClose);
    } catch (failure) {
      // why: only a request without an answer may be repeated as the same one
      if (failure instanceof ApiError && failure.status !== 0) key.current = randomKey();
      void refreshContainers();
      throw failure;
    }
  }, FIELDS);
  const { images = [], roles = [], tier } = catalogue.value ?? {};
  return (
    <Dialog title="New container" onClose={onClose} locked={form.busy}>
      <form onSubmit={(event) => void form.submit(event)} novalidate>
        <div class="dialog-body">
          {form.failure !== null && <Problem failure={form.failure} />}
          {catalogue.failure !== null && <Problem failure={catalogue.failure} />}
          <TextField
            label="Name"
            value={body.name}
            onInput={(name) => change({ name })}
            error={form.faults['name']}
            hint="Letters, digits and hyphens."
            input={{
              autocomplete: 'off',
              autocapitalize: 'none',
              spellcheck: false,
              maxLength: 64,
              ...FOCUS,
            }}
          />
          <div class="field-pair">
            {images.length > 0 && (
              <SelectField
                label="Image"
                value={body.image ?? ''}
                onChange={(image) => change({ image })}
                error={form.faults['image']}
              >
                {images.map(({ key: value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </SelectField>
            )}
            {roles.length > 0 && (
              <SelectField
                label="Tools"
                value={body.role ?? ''}
                onChange={(role) => change({ role })}
                error={form.faults['role']}
              >
                {roles.map(({ key: value, label }) => (
                  <option key={value} value={value}>
                    {label}
                  </option>
                ))}
              </SelectField>
            )}
          </div>
          {tier && <SizePicker tier={tier} body={body} onChange={change} faults={form.faults} />}
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose} disabled={form.busy}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" busy={form.busy ? 'Creating' : undefined}>
            Create
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

const FOCUS = { 'data-autofocus': true } as const;
