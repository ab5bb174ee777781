import { useId } from 'preact/hooks';

type Range = { readonly min: number; readonly max: number };

type RangeProps = {
  readonly label: string;
  readonly unit: string;
  readonly value: Range;
  readonly onInput: (range: Range) => void;
  readonly error?: string | undefined;
};

const ENDS = [
  { end: 'min', words: 'from' },
  { end: 'max', words: 'to' },
] as const;

/** Two numbers, from and to, whose fault is tied to both. */
export function RangeField({ label, unit, value, onInput, error }: RangeProps) {
  const id = useId();
  return (
    <fieldset class="range field">
      <legend>{label}</legend>
      <div class="range-ends">
        {ENDS.map(({ end, words }) => (
          <>
            {end === 'max' && <span aria-hidden="true">to</span>}
            <div class="input-line">
              <input
                inputMode="numeric"
                autocomplete="off"
                aria-label={`${label}, ${words}, in ${unit}`}
                aria-invalid={error !== undefined}
                aria-describedby={`${id}-note`}
                value={String(value[end])}
                onInput={(event) =>
                  onInput({ ...value, [end]: Number.parseInt(event.currentTarget.value, 10) || 0 })
                }
              />
              <span class="unit">{unit}</span>
            </div>
          </>
        ))}
      </div>
      <p id={`${id}-note`} class={error ? 'field-note error' : 'field-note'} aria-live="polite">
        {error ?? ''}
      </p>
    </fieldset>
  );
}
