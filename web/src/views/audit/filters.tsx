import type { InputHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import { ACTION_LABELS, actionOf } from '../../../../src/client/audit/action-labels.ts';
import type { AuditFilter, AuditOf } from '../../api/audit.ts';
import { dayRange } from '../../lib/format/day-range.ts';
import { Button } from '../../ui/button.tsx';

const EMPTY = { user: '', action: '', from: '', to: '' };
type Fields = typeof EMPTY;

const LABELS: Readonly<Record<keyof Fields, string>> = {
  user: 'Who',
  action: 'Action',
  from: 'From',
  to: 'Until',
};

const SUGGESTED = Object.values(ACTION_LABELS).toSorted();

type FiltersProps = { readonly of: AuditOf; readonly onChange: (filter: AuditFilter) => void };

/** Takes effect on Enter, and when a changed field loses the focus. */
export function Filters({ of, onChange }: FiltersProps) {
  const [fields, setFields] = useState(EMPTY);
  const list = useId();
  const apply = (next: Fields): void => {
    const { user, action, from, to } = next;
    const who = of === 'all' && user.trim() !== '' ? { user: user.trim() } : {};
    onChange({ ...who, action: actionOf(action), ...dayRange(from, to) });
  };
  const field = (key: keyof Fields, input: InputHTMLAttributes<HTMLInputElement>) => (
    <label class="field">
      <span>{LABELS[key]}</span>
      <input
        type="text"
        {...input}
        value={fields[key]}
        onInput={({ currentTarget: { value } }) => setFields({ ...fields, [key]: value })}
        onChange={({ currentTarget: { value } }) => apply({ ...fields, [key]: value })}
      />
    </label>
  );
  const isEmpty = Object.values(fields).every((value) => value === '');
  const clear = (): void => {
    setFields(EMPTY);
    apply(EMPTY);
  };
  return (
    <form
      class={`audit-filters of-${of}`}
      onSubmit={(event) => {
        event.preventDefault();
        apply(fields);
      }}
    >
      {of === 'all' &&
        field('user', { placeholder: 'name, email or id', maxLength: 254, autocomplete: 'off' })}
      {field('action', { placeholder: 'any', maxLength: 64, list, autocomplete: 'off' })}
      {/* Suggested while the user types; any other is accepted too. */}
      <datalist id={list}>
        {SUGGESTED.map((label) => (
          <option key={label} value={label} />
        ))}
      </datalist>
      {field('from', { type: 'date' })}
      {field('to', { type: 'date' })}
      <Button onClick={clear} disabled={isEmpty}>
        Clear
      </Button>
    </form>
  );
}
