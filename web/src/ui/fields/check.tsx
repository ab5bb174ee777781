import { useId } from 'preact/hooks';

type CheckProps = {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly hint?: string;
  readonly disabled?: boolean;
};

/** A box to tick, with what it means. */
export function Check({ label, checked, onChange, hint, disabled }: CheckProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p id={`${id}-note`} class="field-note">
          {hint}
        </p>
      )}
    </div>
  );
}
