import { useState } from 'preact/hooks';
import type { Tier } from '../../api/types.ts';
import { cpu, disk, memory, plural } from '../../lib/format.ts';
import { TextField } from '../../ui/field.tsx';
import { RangeField } from '../../ui/range-field.tsx';
import { EntriesPage, type FormProps } from './entries.tsx';
import { EntryForm, FIRST_INPUT } from './entry-form.tsx';

/** What people may use. */
export const Tiers = () => (
  <EntriesPage
    kind="tiers"
    title="Tiers"
    lead="What people may use. Containers that are there keep their limits."
    add="Add a tier"
    keyOf={({ name }) => name}
    labelOf={({ name }) => name}
    facts={(tier) =>
      `up to ${memory(tier.memory_mb.max)}, ${cpu(tier.cpu_shares.max)}, ${disk(tier.disk_mb.max)} disk and ${disk(tier.layer_mb)} outside it · ${plural(tier.max_containers, 'container')}, ${plural(tier.max_agents, 'agent')}`
    }
    form={TierForm}
  />
);

const NEW: Tier = {
  name: '',
  memory_mb: { min: 256, max: 2048 },
  cpu_shares: { min: 100, max: 2000 },
  disk_mb: { min: 512, max: 10_240 },
  layer_mb: 2048,
  max_containers: 5,
  max_agents: 2,
  requests_per_minute: 1200,
  max_terminals: 64,
  max_event_sockets: 64,
  max_commands: 32,
  max_uploads: 16,
  max_downloads: 32,
};

const RANGES = [
  { key: 'memory_mb', label: 'Memory of a container', unit: 'MB' },
  { key: 'cpu_shares', label: 'CPU of a container', unit: 'millicores' },
  { key: 'disk_mb', label: 'Disk of a container', unit: 'MB' },
] as const;

const COUNTS = [
  { key: 'layer_mb', label: 'Outside /workspace (MB)' },
  { key: 'max_containers', label: 'Containers' },
  { key: 'max_agents', label: 'Agents' },
  { key: 'requests_per_minute', label: 'Requests in a minute (0: any number)' },
  { key: 'max_terminals', label: 'Open terminals' },
  { key: 'max_event_sockets', label: 'Open event streams' },
  { key: 'max_commands', label: 'Running commands' },
  { key: 'max_uploads', label: 'Uploads at once' },
  { key: 'max_downloads', label: 'Downloads at once' },
] as const;

const FIELDS = ['name', 'memory_mb', 'cpu_shares', 'disk_mb', ...COUNTS.map(({ key }) => key)];
const NUMBER_INPUT = { inputMode: 'numeric', autocomplete: 'off' } as const;

function TierForm({ before, onDone, onClose }: FormProps<Tier>) {
  const [tier, setTier] = useState(before ?? NEW);
  const { name, ...limits } = tier;
  return (
    <EntryForm
      kind="tiers"
      title={before === null ? 'Add a tier' : `Change ${before.name}`}
      entryKey={before?.name ?? null}
      body={() => (before === null ? tier : limits)}
      fields={FIELDS}
      done={`${name} is saved`}
      onDone={onDone}
      onClose={onClose}
    >
      {(faults) => (
        <>
          {before === null && (
            <TextField
              label="Name"
              value={name}
              onInput={(text) => setTier({ ...tier, name: text })}
              error={faults['name']}
              hint="Lower-case letters, digits and hyphens."
              input={FIRST_INPUT}
            />
          )}
          {RANGES.map(({ key, label, unit }) => (
            <RangeField
              key={key}
              label={label}
              unit={unit}
              value={tier[key]}
              onInput={(range) => setTier({ ...tier, [key]: range })}
              error={faults[key]}
            />
          ))}
          <div class="field-pair">
            {COUNTS.map(({ key, label }) => (
              <TextField
                key={key}
                label={label}
                unit="at most"
                value={String(tier[key])}
                onInput={(text) => setTier({ ...tier, [key]: Number.parseInt(text, 10) || 0 })}
                error={faults[key]}
                input={NUMBER_INPUT}
              />
            ))}
          </div>
        </>
      )}
    </EntryForm>
  );
}
