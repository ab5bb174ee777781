type ChoiceProps = {
  /** For screen readers only: the options explain themselves. */
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onChoice: (value: string) => void;
  readonly disabled?: boolean;
};

/** A choice outside of a form. It takes effect at once. */
export const Choice = ({ label, value, options, onChoice, disabled }: ChoiceProps) => (
  <select
    class="choice"
    aria-label={label}
    value={value}
    disabled={disabled}
    onChange={(event) => onChoice(event.currentTarget.value)}
  >
    {options.map(([key, text]) => (
      <option key={key} value={key}>
        {text}
      </option>
    ))}
  </select>
);
