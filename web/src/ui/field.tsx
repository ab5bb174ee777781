import type { InputHTMLAttributes, TextareaHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';

type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly error?: string | undefined;
  readonly hint?: string;
  readonly unit?: string;
  readonly input?: InputHTMLAttributes<HTMLInputElement>;
};

function Note({ id, error, hint }: { id: string; error?: string | undefined; hint?: string | undefined }) {
  return (
    <p id={id} class={error ? 'field-note error' : 'field-note'} aria-live="polite">
      {error ?? hint ?? ''}
    </p>
  );
}

/** A labelled text field whose fault or hint is tied to it. */
export function TextField({ label, value, onInput, error, hint, unit, input }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="input-line">
        <input
          {...input}
          id={id}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          aria-invalid={error !== undefined}
          aria-describedby={`${id}-note`}
        />
        {unit && <span class="unit">{unit}</span>}
      </div>
      <Note id={`${id}-note`} error={error} hint={hint} />
    </div>
  );
}

/** For names and codes: the browser neither completes nor corrects them. */
export const VERBATIM = { autocomplete: 'off', autocapitalize: 'none', spellcheck: false } as const;
export const CONTAINER_NAME = { ...VERBATIM, name: 'name', maxLength: 64, 'data-autofocus': true } as const;

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
  const {
    value,
    onInput,
    error,
    hint,
    maxLength,
    label = 'Password',
    name = 'password',
    fresh = false,
    autofocus = false,
  } = props;
  const id = useId();
  const [shown, show] = useState(false);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="input-line">
        <input
          id={id}
          name={name}
          {...(shown ? SHOWN : HIDDEN)}
          {...(autofocus && AUTOFOCUS)}
          autocomplete={props.autocomplete ?? (fresh ? 'new-password' : 'current-password')}
          {...(maxLength !== undefined && { maxLength })}
          required
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          aria-invalid={error !== undefined}
          aria-describedby={`${id}-note`}
        />
        <button type="button" class="reveal" aria-pressed={shown} onClick={() => show(!shown)}>
          {shown ? 'Hide' : 'Show'}
          <span class="visually-hidden"> {label.toLowerCase()}</span>
        </button>
      </div>
      <Note id={`${id}-note`} error={error} hint={hint} />
    </div>
  );
}

type AreaProps = Pick<FieldProps, 'label' | 'value' | 'onInput' | 'error' | 'hint'> & {
  readonly area?: TextareaHTMLAttributes<HTMLTextAreaElement>;
};

/** The same for several lines. */
export function AreaField({ label, value, onInput, error, hint, area }: AreaProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        {...area}
        id={id}
        value={value}
        onInput={(event) => onInput(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
      />
      <Note id={`${id}-note`} error={error} hint={hint} />
    </div>
  );
}

type SelectProps = {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly error?: string | undefined;
  readonly hint?: string | undefined;
};

export function SelectField({ label, value, onInput, options, error, hint }: SelectProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => onInput(event.currentTarget.value)}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-note`}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
      <Note id={`${id}-note`} error={error} hint={hint} />
    </div>
  );
}
