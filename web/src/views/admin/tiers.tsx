import { useState } from 'preact/hooks';
import type { FieldFaults } from '../../api/errors.ts';
import type { Tier } from '../../api/types.ts';
import { cpu, disk, memory, plural } from '../../lib/format/format.ts';
import { requireWholeNumbers } from '../../lib/format/whole-number.ts';
import { TextField } from '../../ui/fields/field.tsx';
import { NumberField } from '../../ui/fields/number-field.tsx';
import { RangeField } from '../../ui/fields/range-field.tsx';
import { EntriesPage, type FormProps } from './entries.tsx';
import { EntryForm, FIRST_INPUT } from './entry-form.tsx';

const requests = (perMinute: number): string =>
  perMinute === 0 ? 'unlimited requests' : `${perMinute.toLocaleString('en')} requests a minute`;

const factsOf = (tier: Tier): string =>
  [
    `Up to ${memory(tier.memory_mb.max)}, ${cpu(tier.cpu_shares.max)}, ${disk(tier.disk_mb.max)} disk and ${disk(tier.layer_mb)} layer`,
    `${plural(tier.max_containers, 'container')}, ${plural(tier.max_agents, 'agent')}`,
    `${requests(tier.requests_per_minute)}, ${plural(tier.max_terminals, 'terminal')}, ${plural(tier.max_commands, 'command')}`,
  ].join(' · ');

/** Limits of users and their containers. */
export const Tiers = () => (
  <EntriesPage
    kind="tiers"
    title="Tiers"
    lead="Limits for people and their containers. Existing containers keep theirs."
    add="Add a tier"
    keyOf={({ name }) => name}
    labelOf={({ name }) => name}
    facts={factsOf}
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
  max_snapshots: 5,
  snapshot_mb: 10_240,
  max_ttl_seconds: 0,
  max_idle_seconds: 0,
  requests_per_minute: 1200,
  max_terminals: 64,
  max_event_sockets: 64,
  max_commands: 32,
  max_uploads: 16,
  max_downloads: 32,
};

const RANGES = [
  { key: 'memory_mb', label: 'Memory', unit: 'MB' },
  { key: 'cpu_shares', label: 'CPU', unit: 'millicores' },
  { key: 'disk_mb', label: 'Disk at /workspace', unit: 'MB' },
] as const;

const OF_A_CONTAINER = [
  {
    key: 'layer_mb',
    label: 'Layer',
    unit: 'MB',
    hint: 'Packages, /tmp, /root and everything else outside /workspace. Above this, a container is stopped.',
  },
  {
    key: 'max_ttl_seconds',
    label: 'Longest lifetime',
    unit: 'seconds',
    hint: 'From each start. Open terminals are warned. 0: no limit.',
  },
  {
    key: 'max_idle_seconds',
    label: 'Longest idle time',
    unit: 'seconds',
    hint: 'Without use. 0: no limit.',
  },
] as const;

const OF_A_USER = [
  {
    key: 'max_containers',
    label: 'Containers',
    unit: 'at once',
    hint: 'Twice as many, counting deleted ones that are kept.',
  },
  { key: 'max_agents', label: 'Agents', unit: 'at once', hint: '' },
  { key: 'max_snapshots', label: 'Snapshots', unit: 'at once', hint: '' },
  {
    key: 'snapshot_mb',
    label: 'Disk space of snapshots',
    unit: 'MB',
    hint: 'For all of a person’s snapshots. Deleted ones that are kept may use as much again.',
  },
  {
    key: 'requests_per_minute',
    label: 'Requests',
    unit: 'a minute',
    hint: 'From all sessions and tokens of a person. 0: unlimited.',
  },
  { key: 'max_terminals', label: 'Open terminals', unit: 'at once', hint: 'Each pane counts as one.' },
  {
    key: 'max_event_sockets',
    label: 'Open event streams',
    unit: 'at once',
    hint: 'Each open Berth page uses one.',
  },
  {
    key: 'max_commands',
    label: 'Running commands',
    unit: 'at once',
    hint: 'Including those whose client has disconnected.',
  },
  { key: 'max_uploads', label: 'Uploads', unit: 'at once', hint: '' },
  {
    key: 'max_downloads',
    label: 'Downloads',
    unit: 'at once',
    hint: 'Files, archives, recordings, logs, exports.',
  },
] as const;

const FIELDS = ['name', ...[...RANGES, ...OF_A_CONTAINER, ...OF_A_USER].map(({ key }) => key)];

function TierForm({ before, ...ending }: FormProps<Tier>) {
  const [tier, setTier] = useState(before ?? NEW);
  const { name, ...limits } = tier;
  const counts = (faults: FieldFaults) => ({
    tier,
    faults,
    onInput: (change: Partial<Tier>) => setTier({ ...tier, ...change }),
  });
  return (
    <EntryForm
      kind="tiers"
      noun="a tier"
      before={before && { key: before.name, label: before.name }}
      label={name}
      body={() => {
        requireWholeNumbers(limits);
        return before === null ? tier : limits;
      }}
      fields={FIELDS}
      {...ending}
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
          <fieldset class="limits-of">
            <legend>Each container</legend>
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
            <Counts of={OF_A_CONTAINER} {...counts(faults)} />
          </fieldset>
          <fieldset class="limits-of">
            <legend>Each person, at most</legend>
            <Counts of={OF_A_USER} {...counts(faults)} />
          </fieldset>
        </>
      )}
    </EntryForm>
  );
}

type CountsProps = {
  readonly of: typeof OF_A_CONTAINER | typeof OF_A_USER;
  readonly tier: Tier;
  readonly faults: FieldFaults;
  readonly onInput: (change: Partial<Tier>) => void;
};

function Counts({ of, tier, faults, onInput }: CountsProps) {
  return (
    <div class="field-pair">
      {of.map(({ key, label, unit, hint }) => (
        <NumberField
          key={key}
          label={label}
          unit={unit}
          value={tier[key]}
          onInput={(value) => onInput({ [key]: value })}
          error={faults[key]}
          hint={hint}
        />
      ))}
    </div>
  );
}
