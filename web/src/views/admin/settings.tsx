import { useState } from 'preact/hooks';
import { changeSettings, getSettings } from '../../api/admin.ts';
import type { Settings } from '../../api/types.ts';
import { requireWholeNumbers } from '../../lib/format/whole-number.ts';
import { toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/fields/check.tsx';
import { NumberField } from '../../ui/fields/number-field.tsx';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { LoadProblem, Problem } from '../../ui/problem.tsx';
import { Loading, Section } from '../../ui/section.tsx';
import { useSubmit } from '../auth/use-submit.ts';
import { DeletedSum } from './deleted-sum.tsx';
import { TierField } from './people/invite-dialog.tsx';
import { useTiers } from './people/people.tsx';

/** The service's settings, which take effect without a restart. */
export function AdminSettings() {
  const loaded = useLoaded(getSettings);
  const { value, failure } = loaded;
  return (
    <>
      <Section title="Server" lead="Changes take effect immediately.">
        <LoadProblem of={loaded} />
        {value === null && failure === null && <Loading />}
        {value !== null && <SettingsForm before={value} />}
      </Section>
      <DeletedSum />
    </>
  );
}

const NUMBERS = [
  {
    key: 'guest_lifetime_hours',
    label: 'Guest access lasts',
    unit: 'hours',
    hint: 'After that, guests can only view and delete.',
  },
  {
    key: 'session_idle_minutes',
    label: 'Sign out after inactivity of',
    unit: 'minutes',
    hint: '30 to 1440.',
  },
  {
    key: 'requests_per_minute',
    label: 'Requests per minute',
    unit: 'at most',
    hint: 'Per credential or address, in addition to the limit of the tier. 0: no limit at all.',
  },
  {
    key: 'retention_days',
    label: 'Files of deleted containers are kept for',
    unit: 'days',
    hint: 'They are permanently deleted one day after that.',
  },
  {
    key: 'history_days',
    label: 'History is kept for',
    unit: 'days',
    hint: 'Ended sessions, operations and shares, and deleted containers: 30 to 3650.',
  },
  {
    key: 'recordings_mb_per_user',
    label: 'Recordings per person may use',
    unit: 'MB',
    hint: '0: no recordings.',
  },
  {
    key: 'sockets_per_address',
    label: 'Open terminals and pages per address',
    unit: 'at most',
    hint: '250 or more: everyone in an office may share one address.',
  },
] as const;

function SettingsForm({ before }: { before: Settings }) {
  const [now, setNow] = useState(before);
  const [saved, setSaved] = useState(before);
  const form = useSubmit(async () => {
    requireWholeNumbers(now);
    const answer = await changeSettings(now);
    setNow(answer);
    setSaved(answer);
    toastOk('Settings saved');
  }, ['oidc_tier', ...NUMBERS.map(({ key }) => key)]);
  return (
    <form class="form" onSubmit={(event) => void form.submit(event)} novalidate>
      {form.failure !== null && <Problem failure={form.failure} />}
      <AccountSettings now={now} onChange={setNow} tierFault={form.faults['oidc_tier']} />
      {NUMBERS.map(({ key, label, unit, hint }) => (
        <NumberField
          key={key}
          label={label}
          unit={unit}
          value={now[key]}
          onInput={(value) => setNow({ ...now, [key]: value })}
          error={form.faults[key]}
          hint={hint}
        />
      ))}
      <Button
        type="submit"
        kind="primary"
        disabled={JSON.stringify(now) === JSON.stringify(saved)}
        busy={form.busy ? 'Saving' : undefined}
      >
        Save
      </Button>
    </form>
  );
}

type AccountSettingsProps = {
  readonly now: Settings;
  readonly onChange: (now: Settings) => void;
  readonly tierFault: string | undefined;
};

/** Who gets an account, and how. */
function AccountSettings({ now, onChange, tierFault }: AccountSettingsProps) {
  const tiers = useTiers();
  const set = (change: Partial<Settings>): void => onChange({ ...now, ...change });
  return (
    <>
      <Check
        label="Anyone can create an account"
        checked={now.open_registration}
        onChange={(open_registration) => set({ open_registration })}
      />
      <Check
        label="Guests can use Berth without an account"
        checked={now.guests_enabled}
        onChange={(guests_enabled) => set({ guests_enabled })}
      />
      <Check
        label="A first sign-in at the provider creates an account"
        hint="Only with an email address that the provider has verified."
        checked={now.oidc_create_accounts}
        onChange={(oidc_create_accounts) => set({ oidc_create_accounts })}
      />
      {now.oidc_create_accounts && (
        <TierField
          value={now.oidc_tier}
          tiers={tiers}
          onInput={(oidc_tier) => set({ oidc_tier })}
          error={tierFault}
        />
      )}
      <Check
        label="A first sign-in at the provider opens the account with the same email address"
        hint="Only if the provider has verified the address, and nobody has opened the account yet. Never an administrator's."
        checked={now.oidc_match_by_email}
        onChange={(oidc_match_by_email) => set({ oidc_match_by_email })}
      />
    </>
  );
}
