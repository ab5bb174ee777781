import { useState } from 'preact/hooks';
import type { WholeRole } from '../../api/types.ts';
import { namesIn, toolsHint } from '../../lib/role-tools.ts';
import { AreaField, TextField, VERBATIM } from '../../ui/fields/field.tsx';
import { EntriesPage, type FormProps } from './entries.tsx';
import { EntryForm, NameFields } from './entry-form.tsx';

/** Tools for new containers. */
export const Roles = () => (
  <EntriesPage
    kind="roles"
    title="Toolsets"
    lead="Tools that are installed after a container is created. Existing containers keep theirs."
    add="Add a toolset"
    keyOf={({ key }) => key}
    labelOf={({ label }) => label}
    facts={(role) => `${role.key} · ${factsOf(role)}`}
    form={RoleForm}
  />
);

const hasPackages = ({ packages }: WholeRole): boolean =>
  Object.values(packages).some((names) => names.length > 0);

const factsOf = (role: WholeRole): string =>
  [
    ...(hasPackages(role) || role.script === null ? [toolsHint(role)] : []),
    ...(role.script === null ? [] : ['Runs a script.']),
  ].join(' ');

const MANAGERS = [
  { key: 'apt', label: 'Packages for apt', hint: 'Debian, Ubuntu. Separated by spaces.' },
  { key: 'apk', label: 'Packages for apk', hint: 'Alpine.' },
  { key: 'dnf', label: 'Packages for dnf', hint: 'Fedora, Rocky Linux.' },
] as const;

const FIELDS = ['key', 'label', 'packages', 'script'];
const AREA = { spellcheck: false, autocapitalize: 'none', rows: 5 } as const;

type Manager = (typeof MANAGERS)[number]['key'];
type Draft = {
  readonly key: string;
  readonly label: string;
  readonly script: string;
  readonly packages: Readonly<Record<Manager, string>>;
};

const draftOf = (role: WholeRole | null): Draft => {
  const text = (manager: Manager): string => (role?.packages[manager] ?? []).join(' ');
  return {
    key: role?.key ?? '',
    label: role?.label ?? '',
    script: role?.script ?? '',
    packages: { apt: text('apt'), apk: text('apk'), dnf: text('dnf') },
  };
};

/** Omits package managers without packages. */
function bodyOf({ label, script, packages }: Draft): Omit<WholeRole, 'key'> {
  const named = MANAGERS.map(({ key }) => [key, namesIn(packages[key])] as const);
  return {
    label,
    packages: Object.fromEntries(named.filter(([, names]) => names.length > 0)),
    script: script.trim() === '' ? null : script,
  };
}

function RoleForm({ before, ...ending }: FormProps<WholeRole>) {
  const [draft, setDraft] = useState(() => draftOf(before));
  const set = (change: Partial<Draft>): void => setDraft({ ...draft, ...change });
  return (
    <EntryForm
      kind="roles"
      noun="a toolset"
      before={before}
      label={draft.label}
      body={() => ({ ...(before === null && { key: draft.key }), ...bodyOf(draft) })}
      fields={FIELDS}
      {...ending}
    >
      {(faults) => (
        <>
          <NameFields of={draft} isNew={before === null} example="ruby" onInput={set} faults={faults} />
          {MANAGERS.map(({ key, label, hint }) => (
            <TextField
              key={key}
              label={label}
              value={draft.packages[key]}
              onInput={(text) => set({ packages: { ...draft.packages, [key]: text } })}
              error={key === 'apt' ? faults['packages'] : undefined}
              hint={hint}
              input={VERBATIM}
            />
          ))}
          <AreaField
            label="Script"
            value={draft.script}
            onInput={(script) => set({ script })}
            error={faults['script']}
            hint="Run by sh as root in the container, after the packages. It may run more than once. Do not put secrets here."
            area={AREA}
          />
        </>
      )}
    </EntryForm>
  );
}
