import { useState } from 'preact/hooks';
import { invite, type NewInvitation } from '../../../api/identity/people.ts';
import { SelectField, TextField } from '../../../ui/fields/field.tsx';
import { chosenEnd, NO_END } from './account-end.ts';
import { ConfirmedDialog } from './confirmed-dialog.tsx';
import { EndField } from './end-field.tsx';
import type { MadeLink } from './link-dialog.tsx';

const LIVES: readonly (readonly [hours: string, label: string])[] = [
  ['24', '1 day'],
  ['72', '3 days'],
  ['168', '7 days'],
  ['720', '30 days'],
];
export const ROLES: readonly (readonly [role: string, label: string])[] = [
  ['user', 'User'],
  ['admin', 'Administrator'],
];
const TIER_OF: Readonly<Record<string, string>> = { user: 'free', admin: 'enterprise' };

const EMAIL_INPUT = { name: 'email', type: 'email', autocomplete: 'off', 'data-autofocus': true } as const;

const FIRST = { email: '', role: 'user', tier: 'free', hours: '168', end: NO_END };

type InviteProps = {
  readonly tiers: readonly string[];
  readonly onMade: (made: MadeLink) => void;
  readonly onClose: () => void;
};

export function InviteDialog({ tiers, onMade, onClose }: InviteProps) {
  const [wanted, setWanted] = useState(FIRST);
  const email = wanted.email.trim() === '' ? null : wanted.email.trim();
  const body = (): NewInvitation => ({
    email,
    role: wanted.role as NewInvitation['role'],
    tier: wanted.tier,
    expires_in_hours: Number(wanted.hours),
    account_ends_at: wanted.role === 'admin' ? null : chosenEnd(wanted.end, 'account_ends_at'),
  });
  return (
    <ConfirmedDialog
      title="Invite a person"
      action="Create link"
      busy="Creating"
      fields={['email', 'role', 'tier', 'account_ends_at']}
      work={async (proof) => invite({ ...body(), ...proof })}
      onDone={({ url }) =>
        onMade({ title: 'Invitation', words: `Send this link to ${email ?? 'the person'}.`, url })
      }
      onClose={onClose}
    >
      {(faults) => <InvitationFields wanted={wanted} onChange={setWanted} tiers={tiers} faults={faults} />}
    </ConfirmedDialog>
  );
}

type FieldsProps = {
  readonly wanted: typeof FIRST;
  readonly onChange: (wanted: typeof FIRST) => void;
  readonly tiers: readonly string[];
  readonly faults: Readonly<Record<string, string>>;
};

function InvitationFields({ wanted, onChange, tiers, faults }: FieldsProps) {
  const set = (change: Partial<typeof wanted>): void => onChange({ ...wanted, ...change });
  return (
    <>
      <TextField
        label="Email"
        value={wanted.email}
        onInput={(email) => set({ email })}
        error={faults['email']}
        hint="Optional. Only this address can accept. Berth sends no email: you send the link yourself."
        input={EMAIL_INPUT}
      />
      <SelectField
        label="Role"
        value={wanted.role}
        onInput={(role) => set({ role, tier: TIER_OF[role] ?? wanted.tier })}
        options={ROLES}
        error={faults['role']}
      />
      <TierField value={wanted.tier} tiers={tiers} onInput={(tier) => set({ tier })} error={faults['tier']} />
      <SelectField
        label="Link valid for"
        value={wanted.hours}
        onInput={(hours) => set({ hours })}
        options={LIVES}
      />
      {wanted.role === 'user' && (
        <EndField
          name="account_ends_at"
          choice={wanted.end}
          onChoice={(end) => set({ end })}
          error={faults['account_ends_at']}
        />
      )}
    </>
  );
}

type TierFieldProps = {
  readonly value: string;
  readonly tiers: readonly string[];
  readonly onInput: (tier: string) => void;
  readonly error?: string | undefined;
};

export function TierField({ value, tiers, onInput, error }: TierFieldProps) {
  const known = tiers.includes(value) ? tiers : [value, ...tiers];
  return (
    <SelectField
      label="Tier"
      value={value}
      onInput={onInput}
      options={known.map((tier) => [tier, tier] as const)}
      error={error}
      hint="Limits how many containers the person may have, and how large."
    />
  );
}
