import type { InputHTMLAttributes } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { AuditFilter, AuditOf } from '../../api/audit.ts';
import { dayRange } from '../../lib/format/day-range.ts';
import { Button } from '../../ui/button.tsx';

/** Suggested while the user types; any other is accepted too. */
const ACTIONS = `
  login login_failed logged_out session_revoked sessions_revoked_others device_sign_in_approved
  device_sign_in_denied token_created token_revoked token_deleted container_created container_started
  container_stopped container_updated container_deleted container_restored container_over_share
  container_purged lifetime_changed agent_enrolment_created agent_enrolled agent_added agent_connected
  agent_disconnected agent_stopped agent_deleted terminal_opened terminal_closed recording_started
  recording_deleted recording_downloaded command_run ssh_connected ssh_disconnected port_forwarded
  ssh_agent_forwarded process_started process_signalled file_uploaded file_deleted file_downloaded files_searched
  collaboration_started collaboration_ended ssh_key_added ssh_key_removed mfa_enabled mfa_disabled
  password_changed password_reset second_factor_reset
  invitation_created invitation_withdrawn invitation_accepted reset_link_created reset_link_withdrawn user_created
  user_updated user_deletion_started user_deleted container_transferred settings_updated users_listed terminals_listed audit_listed audit_exported
`
  .trim()
  .split(/\s+/);

const EMPTY = { user: '', action: '', from: '', to: '' };
type Fields = typeof EMPTY;

const LABELS: Readonly<Record<keyof Fields, string>> = {
  user: 'Who',
  action: 'Action',
  from: 'From',
  to: 'Until',
};

type FiltersProps = { readonly of: AuditOf; readonly onChange: (filter: AuditFilter) => void };

/** Takes effect on Enter, and when a changed field loses the focus. */
export function Filters({ of, onChange }: FiltersProps) {
  const [fields, setFields] = useState(EMPTY);
  const list = useId();
  const apply = (next: Fields): void => {
    const { user, action, from, to } = next;
    const who = of === 'all' && user.trim() !== '' ? { user: user.trim() } : {};
    onChange({ ...who, action: action.trim(), ...dayRange(from, to) });
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
      <datalist id={list}>
        {ACTIONS.map((action) => (
          <option key={action} value={action} />
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
