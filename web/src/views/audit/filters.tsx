import { useId, useState } from 'preact/hooks';
import type { AuditFilter, AuditOf } from '../../api/audit.ts';
import { dayRange } from '../../lib/format/day-range.ts';
import { Button } from '../../ui/button.tsx';

/** Offered while one types; any other is taken as well. */
const ACTIONS = [
  'login',
  'login_failed',
  'logged_out',
  'session_revoked',
  'sessions_revoked_others',
  'token_created',
  'token_revoked',
  'token_deleted',
  'container_created',
  'container_started',
  'container_stopped',
  'container_updated',
  'container_deleted',
  'container_restored',
  'container_over_share',
  'container_purged',
  'terminal_opened',
  'terminal_closed',
  'recording_started',
  'recording_deleted',
  'recording_downloaded',
  'command_run',
  'file_uploaded',
  'file_deleted',
  'file_downloaded',
  'collaboration_started',
  'collaboration_ended',
  'mfa_enabled',
  'mfa_disabled',
  'password_changed',
  'user_updated',
  'settings_updated',
  'users_listed',
  'terminals_listed',
  'audit_listed',
  'audit_exported',
] as const;

const EMPTY = { user: '', action: '', from: '', to: '' };
type Fields = typeof EMPTY;

const LABELS: Readonly<Record<keyof Fields, string>> = {
  user: 'Who',
  action: 'Action',
  from: 'From',
  to: 'Until',
};

type FiltersProps = { readonly of: AuditOf; readonly onChange: (filter: AuditFilter) => void };

/** Takes effect on Enter, and when a field that was changed is left. */
export function Filters({ of, onChange }: FiltersProps) {
  const [fields, setFields] = useState(EMPTY);
  const list = useId();
  const apply = (next: Fields): void => {
    const { user, action, from, to } = next;
    const who = of === 'all' && user.trim() !== '' ? { user: user.trim() } : {};
    onChange({ ...who, action: action.trim(), ...dayRange(from, to) });
  };
  const change = (key: keyof Fields, value: string): void => setFields({ ...fields, [key]: value });
  const input = (key: keyof Fields) => ({
    value: fields[key],
    onInput: (event: { currentTarget: HTMLInputElement }) => change(key, event.currentTarget.value),
    onChange: (event: { currentTarget: HTMLInputElement }) =>
      apply({ ...fields, [key]: event.currentTarget.value }),
  });
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
      {of === 'all' && (
        <label class="field">
          <span>{LABELS.user}</span>
          <input
            type="text"
            placeholder="name, email or id"
            maxLength={254}
            autocomplete="off"
            {...input('user')}
          />
        </label>
      )}
      <label class="field">
        <span>{LABELS.action}</span>
        <input
          type="text"
          placeholder="any"
          maxLength={64}
          list={list}
          autocomplete="off"
          {...input('action')}
        />
      </label>
      <datalist id={list}>
        {ACTIONS.map((action) => (
          <option key={action} value={action} />
        ))}
      </datalist>
      <label class="field">
        <span>{LABELS.from}</span>
        <input type="date" {...input('from')} />
      </label>
      <label class="field">
        <span>{LABELS.to}</span>
        <input type="date" {...input('to')} />
      </label>
      <Button onClick={clear} disabled={isEmpty}>
        Clear
      </Button>
    </form>
  );
}
