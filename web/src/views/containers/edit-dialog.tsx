import { useState } from 'preact/hooks';
import type { Container, ContainerChange } from '../../api/types.ts';
import { requireWholeNumbers } from '../../lib/format/whole-number.ts';
import { update } from '../../state/containers.ts';
import { engineDoes } from '../../state/engine.ts';
import { Problem } from '../../ui/problem.tsx';
import { useSubmit } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';
import { Losses } from './loss-report.tsx';
import { NameField } from './name-field.tsx';
import { SizePicker } from './size-picker.tsx';
import { useCatalogue } from './use-catalogue.ts';

const FIELDS = ['name', 'memory_mb', 'cpu_shares', 'disk_mb'];

const keep = (): void => {};

/** The name and the limits of a container, and what changing them does. */
export function EditDialog({ container, onClose }: { container: Container; onClose: () => void }) {
  const [body, setBody] = useState<ContainerChange>({ name: container.name, ...container.resources });
  const [keepInstalled, setKeepInstalled] = useState(false);
  const { value: catalogue, failure } = useCatalogue(keep);
  const form = useSubmit(async () => {
    requireWholeNumbers(body);
    await update(container, { ...body, carry_over: keepInstalled });
    onClose();
  }, FIELDS);
  const { memory_mb, cpu_shares, disk_mb } = container.resources;
  const resized = body.memory_mb !== memory_mb || body.cpu_shares !== cpu_shares || body.disk_mb !== disk_mb;
  return (
    <FormDialog
      title={`Settings of ${container.name}`}
      form={form}
      action={resized ? `Save and ${container.status === 'running' ? 'restart' : 'start'}` : 'Save'}
      busy="Saving"
      onClose={onClose}
      novalidate
      locked
    >
      {failure !== null && <Problem failure={failure} />}
      <NameField
        value={body.name}
        onInput={(name) => setBody({ ...body, name })}
        error={form.faults['name']}
        hint="Letters, digits and hyphens."
      />
      {catalogue?.tier && (
        <SizePicker
          tier={catalogue.tier}
          body={body}
          onChange={(change) => setBody({ ...body, ...change })}
          faults={form.faults}
        />
      )}
      <p class={resized ? 'note' : 'note still'} aria-live="polite">
        {resized
          ? `New limits recreate and ${container.status === 'running' ? 'restart' : 'start'} the container. Running programs end, and what was installed outside /workspace ${keepInstalled ? 'is kept' : 'is lost'}. /workspace is kept.`
          : 'A new name takes effect immediately, without a restart.'}
      </p>
      {resized && engineDoes('takes_snapshots') && (
        <Losses id={container.db_id} keep={keepInstalled} onKeep={setKeepInstalled} />
      )}
    </FormDialog>
  );
}
