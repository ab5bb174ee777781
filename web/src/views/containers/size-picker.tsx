import { useId, useState } from 'preact/hooks';
import type { FieldFaults } from '../../api/errors.ts';
import type { NewContainer, Resources, Tier } from '../../api/types.ts';
import { cpu, disk, memory } from '../../lib/format/format.ts';
import { presets } from '../../lib/format/resource-sizes.ts';
import { NumberField } from '../../ui/fields/number-field.tsx';

type PickerProps = {
  readonly tier: Tier;
  readonly body: NewContainer;
  readonly onChange: (change: Partial<Resources>) => void;
  readonly faults: FieldFaults;
};

const LINES = [
  { key: 'memory_mb', label: 'Memory', unit: 'MB', show: memory },
  { key: 'cpu_shares', label: 'CPU', unit: 'millicores', show: cpu },
  { key: 'disk_mb', label: 'Disk', unit: 'MB', show: disk },
] as const;

const isSize = (body: NewContainer, size: Resources): boolean =>
  LINES.every(({ key }) => body[key] === size[key]);

/** Sizes that fit the tier, or the user's own numbers within it. */
export function SizePicker({ tier, body, onChange, faults }: PickerProps) {
  const [custom, setCustom] = useState(false);
  const group = useId();
  const isFaulty = LINES.some(({ key }) => faults[key] !== undefined);
  const sizes = presets(tier);
  const isChosen = LINES.every(({ key }) => body[key] !== undefined);
  const isOther = isChosen && !sizes.some(({ resources }) => isSize(body, resources));
  const own = custom || isFaulty || isOther;
  return (
    <fieldset class="sizes">
      <legend>Size</legend>
      <div class="size-cards">
        {sizes.map(({ label, resources }) => (
          <label class="size-card" key={label}>
            <input
              type="radio"
              name={group}
              checked={!own && isSize(body, resources)}
              onChange={() => {
                setCustom(false);
                onChange(resources);
              }}
            />
            <strong>{label}</strong>
            {LINES.map((line) => (
              <span key={line.key}>
                {line.show(resources[line.key])}
                {line.key === 'disk_mb' && ' disk'}
              </span>
            ))}
          </label>
        ))}
        <label class="size-card">
          <input type="radio" name={group} checked={own} onChange={() => setCustom(true)} />
          <strong>Custom</strong>
          <span>Set your own limits</span>
        </label>
      </div>
      {own && (
        <div class="custom-size">
          {LINES.map(({ key, label, unit }) => (
            <NumberField
              key={key}
              label={label}
              unit={unit}
              value={body[key] ?? Number.NaN}
              onInput={(value) => onChange({ [key]: value })}
              error={faults[key]}
              hint={`${tier[key].min} to ${tier[key].max}`}
            />
          ))}
        </div>
      )}
    </fieldset>
  );
}
