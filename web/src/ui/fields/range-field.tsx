import { useId } from 'preact/hooks';
import { useNumberText } from './number-field.tsx';

type Range = { readonly min: number; readonly max: number };

type RangeProps = {
  readonly label: string;
  readonly unit: string;
  readonly value: Range;
  readonly onInput: (range: Range) => void;
  readonly error?: string | undefined;
};

/** Two numbers, from and to, whose fault is tied to both. */
export function RangeField({ label, unit, value, onInput, error }: RangeProps) {
  const noteId = `${useId()}-note`;
  const end = { noteId, isFaulty: error !== undefined };
  return (
    <fieldset class="range field">
      <legend>
        {label} <span class="range-unit">({unit})</span>
      </legend>
      <div class="range-ends">
        <End
          {...end}
          label={`${label}, from, in ${unit}`}
          value={value.min}
          onInput={(min) => onInput({ ...value, min })}
        />
        <span aria-hidden="true">to</span>
        <End
          {...end}
          label={`${label}, to, in ${unit}`}
          value={value.max}
          onInput={(max) => onInput({ ...value, max })}
        />
      </div>
      <p id={noteId} class={error ? 'field-note error' : 'field-note'} aria-live="polite">
        {error ?? ''}
      </p>
    </fieldset>
  );
}

type EndProps = {
  readonly label: string;
  readonly noteId: string;
  readonly isFaulty: boolean;
  readonly value: number;
  readonly onInput: (value: number) => void;
};

function End({ label, noteId, isFaulty, value, onInput }: EndProps) {
  const { text, type } = useNumberText(value, onInput);
  return (
    <div class="input-line">
      <input
        inputMode="numeric"
        autocomplete="off"
        aria-label={label}
        aria-invalid={isFaulty}
        aria-describedby={noteId}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </div>
  );
}
