import { useRef } from 'preact/hooks';
import { randomKey } from '../../../../src/client/random-key.ts';
import { forkContainer, takeSnapshot } from '../../api/containers/snapshots.ts';
import type { Container } from '../../api/types.ts';
import { navigate } from '../../lib/browser/router.ts';
import { plural } from '../../lib/format/format.ts';
import { refreshContainers } from '../../state/container-list.ts';
import { toastOk } from '../../state/toasts.ts';
import { SelectField, TextField } from '../../ui/fields/field.tsx';
import { useForm } from '../auth/use-submit.ts';
import { NameField } from '../containers/name-field.tsx';
import { FormDialog } from '../form-dialog.tsx';

type CopyProps = { readonly container: Container; readonly onClose: () => void };

const PAUSE =
  'Programs pause while the container is copied, a few seconds for each gigabyte. Connections stay open. Running programs are not copied.';

/** A key for each request that is not the last one again. */
function useKey() {
  const last = useRef({ body: '', key: randomKey() });
  return (body: object): string => {
    const text = JSON.stringify(body);
    if (last.current.body !== text) last.current = { body: text, key: randomKey() };
    return last.current.key;
  };
}

/** Keeps the container's current files under a name. */
export function SnapshotDialog({ container, onClose }: CopyProps) {
  const keyOf = useKey();
  const form = useForm({ name: '', note: '' }, async ({ name, note }) => {
    const body = { name: name.trim(), note: note.trim() };
    const { status } = await takeSnapshot(container.db_id, body, keyOf(body));
    const words =
      status === 'ready' ? `Snapshot ${body.name} is taken` : `Snapshot ${body.name} is being taken`;
    toastOk(words, { label: 'Show', run: () => navigate('/snapshots') });
    onClose();
  });
  return (
    <FormDialog
      title={`Snapshot of ${container.name}`}
      form={form}
      action="Take snapshot"
      busy="Copying"
      onClose={onClose}
      novalidate
      narrow
      lead={
        <>
          <p>
            A snapshot keeps <code>/workspace</code> and everything installed, as it is now. You can create
            containers from it.
          </p>
          {container.status === 'running' && <p>{PAUSE}</p>}
        </>
      }
    >
      <NameField {...form.field('name')} hint="Letters, digits and hyphens." />
      <TextField label="Note" {...form.field('note')} hint="Optional. What it is for." />
    </FormDialog>
  );
}

const COUNTS = [1, 2, 3, 4, 5, 6, 7, 8].map((count) => [String(count), plural(count, 'container')] as const);

/** Makes containers with the current files of this one. */
export function ForkDialog({ container, onClose }: CopyProps) {
  const keyOf = useKey();
  const form = useForm({ name: `${container.name.slice(0, 56)}-copy`, count: '1' }, async (values) => {
    const body = { name: values.name.trim(), count: Number(values.count) };
    const { containers } = await forkContainer(container.db_id, body, keyOf(body));
    const made = containers.filter(({ status }) => status !== 'deleted').map(({ name }) => name);
    toastOk(made.length === 1 ? `${made[0]} is a copy of ${container.name}` : `Created ${made.join(', ')}`);
    onClose();
    void refreshContainers();
  });
  return (
    <FormDialog
      title={`Fork ${container.name}`}
      form={form}
      action="Fork"
      busy="Copying"
      onClose={onClose}
      novalidate
      narrow
      lead={
        <>
          <p>
            Creates containers with the same files, installed software, limits and environment. After that,
            they are independent.
          </p>
          {container.status === 'running' && <p>{PAUSE}</p>}
        </>
      }
    >
      <NameField
        {...form.field('name')}
        hint={form.values.count === '1' ? 'Letters, digits and hyphens.' : 'Numbered -1, -2 and so on.'}
      />
      <SelectField label="How many" {...form.field('count')} options={COUNTS} />
    </FormDialog>
  );
}
