import type { ComponentChildren, InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
  readonly unit?: string;
  readonly input?: InputHTMLAttributes<HTMLInputElement>;
};

type LabelledProps = Pick<FieldProps, 'label' | 'error' | 'hint'> & {
  /** The input, which gets its id and what ties the note to it. */
  readonly children: (input: {
    readonly id: string;
    readonly 'aria-invalid': boolean;
    readonly 'aria-describedby': string;
  }) => ComponentChildren;
};

/** An input with its label, and with its fault or hint. */
function Labelled({ label, error, hint, children }: LabelledProps) {
  const id = useId();
  const note = `${id}-note`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': note })}
      <p id={note} class={error ? 'field-note error' : 'field-note'} aria-live="polite">
        {error ?? hint ?? ''}
      </p>
    </div>
  );
}

/** A text field of one line. */
export function TextField({ value, onInput, unit, input, ...field }: FieldProps) {
  return (
    <Labelled {...field}>
      {(tied) => (
        <div class="input-line">
          <input {...input} {...tied} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
          {unit && <span class="unit">{unit}</span>}
        </div>
      )}
    </Labelled>
  );
}

/** For names and codes: the browser neither completes nor corrects them. */
export const VERBATIM = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;

const SHOWN = { type: 'text' } as const;
const HIDDEN = { type: 'password' } as const;
const AUTOFOCUS = { 'data-autofocus': true } as const;

type PasswordProps = Pick<FieldProps, 'value' | 'onInput' | 'error' | 'hint'> & {
  readonly autocomplete?: string;
  readonly maxLength?: number;
  readonly label?: string;
  readonly name?: string;
  readonly fresh?: boolean;
  readonly autofocus?: boolean;
};

export function PasswordField(props: PasswordProps) {
  const { value, onInput, maxLength, label = 'Password', name = 'password', autofocus = false } = props;
  const [shown, show] = useState(false);
  return (
    <Labelled label={label} error={props.error} hint={props.hint}>
      {(tied) => (
        <div class="input-line">
          <input
            {...tied}
            name={name}
            {...(shown ? SHOWN : HIDDEN)}
            {...(autofocus && AUTOFOCUS)}
            autocomplete={props.autocomplete ?? (props.fresh ? 'new-password' : 'current-password')}
            {...(maxLength !== undefined && { maxLength })}
            required
            value={value}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
          <button type="button" class="reveal" aria-pressed={shown} onClick={() => show(!shown)}>
            {shown ? 'Hide' : 'Show'}
            <span class="visually-hidden"> {label.toLowerCase()}</span>
          </button>
        </div>
      )}
    </Labelled>
  );
}

type AreaProps = Pick<FieldProps, 'label' | 'value' | 'onInput' | 'error' | 'hint'> & {
  readonly area?: TextareaHTMLAttributes<HTMLTextAreaElement>;
};

/** A text field of several lines. */
export function AreaField({ value, onInput, area, ...field }: AreaProps) {
  return (
    <Labelled {...field}>
      {(tied) => (
        <textarea {...area} {...tied} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
    </Labelled>
  );
}

type SelectProps = Pick<FieldProps, 'label' | 'value' | 'onInput' | 'error' | 'hint'> & {
  readonly options: readonly (readonly [value: string, label: string])[];
};

export function SelectField({ value, onInput, options, ...field }: SelectProps) {
  return (
    <Labelled {...field}>
      {(tied) => (
        <select {...tied} value={value} onChange={(event) => onInput(event.currentTarget.value)}>
          {options.map(([key, text]) => (
            <option key={key} value={key}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}
