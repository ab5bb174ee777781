import { useState } from 'preact/hooks';
import { createToken } from '../../../api/identity/account.ts';
import type { CreatedToken, Scope } from '../../../api/types.ts';
import { Check } from '../../../ui/fields/check.tsx';
import { SelectField, TextField } from '../../../ui/fields/field.tsx';
import { useForm } from '../../auth/use-submit.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { SecretDialog } from '../../secret-dialog.tsx';

const SCOPES: readonly { readonly scope: Scope; readonly label: string; readonly hint: string }[] = [
  { scope: 'read', label: 'Read', hint: 'See containers and their files.' },
  { scope: 'write', label: 'Write', hint: 'Also create, change and use them.' },
  { scope: 'admin', label: 'Administer', hint: 'Also everything that administrators can do.' },
];

const LIVES: readonly (readonly [days: string, label: string])[] = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['', 'No expiry'],
];

export const TOKEN_NAME_INPUT = {
  name: 'name',
  autocomplete: 'off',
  required: true,
  maxLength: 100,
  placeholder: 'deploy script',
  'data-autofocus': true,
} as const;

type NewProps = {
  readonly isAdmin: boolean;
  readonly onMade: (made: CreatedToken) => void;
  readonly onClose: () => void;
};

export function NewTokenDialog({ isAdmin, onMade, onClose }: NewProps) {
  const [scopes, setScopes] = useState<readonly Scope[]>(['read', 'write']);
  const create = async ({ name, expires_in: days }: { name: string; expires_in: string }): Promise<void> => {
    onMade(await createToken({ name, scopes, ...(days !== '' && { expires_in: Number(days) }) }));
    onClose();
  };
  const form = useForm({ name: '', expires_in: '90' }, create, ['scopes']);
  return (
    <FormDialog
      title="New API token"
      form={form}
      action="Create token"
      busy="Creating"
      onClose={onClose}
      novalidate
      narrow
    >
      <TextField label="Name" {...form.field('name')} hint="What it is for." input={TOKEN_NAME_INPUT} />
      <ScopeChecks
        offered={isAdmin ? ALL : USUAL}
        value={scopes}
        onChange={setScopes}
        error={form.faults['scopes']}
      />
      <SelectField label="Valid for" {...form.field('expires_in')} options={LIVES} />
    </FormDialog>
  );
}

const USUAL: readonly Scope[] = ['read', 'write'];
const ALL: readonly Scope[] = [...USUAL, 'admin'];

type ScopesProps = {
  readonly offered: readonly Scope[];
  readonly value: readonly Scope[];
  readonly onChange: (scopes: readonly Scope[]) => void;
  readonly error: string | undefined;
};

/** What a token may do. */
export function ScopeChecks({ offered, value, onChange, error }: ScopesProps) {
  const set = (scope: Scope, on: boolean): void =>
    onChange(on ? [...value, scope] : value.filter((each) => each !== scope));
  return (
    <fieldset class="checks">
      <legend>Permissions</legend>
      {SCOPES.filter(({ scope }) => offered.includes(scope)).map(({ scope, label, hint }) => (
        <Check
          key={scope}
          label={label}
          hint={hint}
          checked={value.includes(scope)}
          onChange={(on) => set(scope, on)}
        />
      ))}
      {error && <p class="field-note error">{error}</p>}
    </fieldset>
  );
}

/** The secret, this once. */
export const TokenSecret = ({ made, onClose }: { made: CreatedToken; onClose: () => void }) => (
  <SecretDialog
    title={`Your token “${made.name}”`}
    words="Copy it now. It is not shown again, and Berth stores only its hash."
    secret={made.token}
    label="Copy the token"
    onClose={onClose}
  />
);
