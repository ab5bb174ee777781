import { useState } from 'preact/hooks';
import { deriveToken } from '../../../api/identity/account.ts';
import type { ApiToken, CreatedToken, Scope } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { narrowerLives, scopesWithin } from '../../../lib/format/narrower-token.ts';
import { Check } from '../../../ui/fields/check.tsx';
import { SelectField, TextField } from '../../../ui/fields/field.tsx';
import { useForm } from '../../auth/use-submit.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { ScopeChecks, TOKEN_NAME_INPUT } from './token-dialogs.tsx';

type Props = {
  readonly parent: ApiToken;
  /** Of the user's containers, by db id. */
  readonly names: ReadonlyMap<string, string>;
  readonly onMade: (made: CreatedToken) => void;
  readonly onClose: () => void;
};

/** A token below another: for fewer containers, a shorter time, or a number of requests. */
export function NarrowerTokenDialog({ parent, names, onMade, onClose }: Props) {
  const offered = scopesWithin(parent.scopes);
  const lives = narrowerLives(parent.expires_at, now.value);
  const [scopes, setScopes] = useState<readonly Scope[]>(offered);
  const [containers, setContainers] = useState<readonly string[]>([]);
  const create = async (values: { name: string; expires_in_minutes: string; max_uses: string }) => {
    const { name, expires_in_minutes: minutes, max_uses: uses } = values;
    const made = await deriveToken({
      parent_id: parent.id,
      name,
      scopes,
      ...(containers.length > 0 && { containers }),
      ...(minutes !== '' && { expires_in_minutes: Number(minutes) }),
      ...(uses.trim() !== '' && { max_uses: Number(uses) }),
    });
    onMade(made);
    onClose();
  };
  const initial = { name: '', expires_in_minutes: lives[0]?.[0] ?? '', max_uses: '' };
  const form = useForm(initial, create, ['scopes', 'containers']);
  return (
    <FormDialog
      title={`Narrower token from “${parent.name}”`}
      form={form}
      action="Create token"
      busy="Creating"
      onClose={onClose}
      lead={<p>It can do at most what “{parent.name}” can, and ends with it.</p>}
      novalidate
      narrow
    >
      <TextField label="Name" {...form.field('name')} hint="What it is for." input={TOKEN_NAME_INPUT} />
      <ScopeChecks offered={offered} value={scopes} onChange={setScopes} error={form.faults['scopes']} />
      <Containers
        choices={(parent.containers ?? [...names.keys()]).filter((dbId) => names.has(dbId))}
        names={names}
        value={containers}
        onChange={setContainers}
        error={form.faults['containers']}
      />
      <SelectField label="Valid for" {...form.field('expires_in_minutes')} options={lives} />
      <TextField
        label="Requests"
        {...form.field('max_uses')}
        hint="The token ends after this many requests. Leave it empty for no limit."
        input={{ name: 'max_uses', inputMode: 'numeric', autocomplete: 'off' }}
      />
    </FormDialog>
  );
}

type ContainersProps = {
  readonly choices: readonly string[];
  readonly names: Props['names'];
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  readonly error: string | undefined;
};

function Containers({ choices, names, value, onChange, error }: ContainersProps) {
  if (choices.length === 0) return null;
  const set = (dbId: string, on: boolean): void =>
    onChange(on ? [...value, dbId] : value.filter((each) => each !== dbId));
  return (
    <fieldset class="checks token-containers">
      <legend>Only for these containers</legend>
      {choices.map((dbId) => (
        <Check
          key={dbId}
          label={names.get(dbId) ?? dbId}
          checked={value.includes(dbId)}
          onChange={(on) => set(dbId, on)}
        />
      ))}
      <p class={error ? 'field-note error' : 'field-note'}>
        {error ?? 'Choose none to allow every container that its parent token reaches.'}
      </p>
    </fieldset>
  );
}
