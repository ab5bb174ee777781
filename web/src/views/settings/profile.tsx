import { changeMe, changePassword, setPassword } from '../../api/identity/account.ts';
import type { Me } from '../../api/types.ts';
import { onDay } from '../../lib/format/format.ts';
import { userChanged } from '../../session/session.ts';
import { loadMe, profileChanged } from '../../state/profile.ts';
import { toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/fields/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Section } from '../../ui/section.tsx';
import { useForm } from '../auth/use-submit.ts';
import { CREDENTIALS_PATH } from './sign-ins/credentials-page.tsx';
import { useConfirmation } from './use-reauthentication.tsx';

const NAME_INPUT = {
  name: 'username',
  autocomplete: 'username',
  autocapitalize: 'none',
  spellcheck: false,
  maxLength: 39,
  required: true,
} as const;

export function Profile({ profile }: { profile: Me }) {
  return (
    <>
      <Name profile={profile} />
      {profile.email !== null && (profile.password_set ? <Password /> : <FirstPassword />)}
    </>
  );
}

function leadOf({ email, ends_at }: Me): string {
  if (email === null) return 'You are a guest: no email address, no password.';
  return ends_at === null ? email : `${email} · Your account ends on ${onDay(ends_at)}.`;
}

function Name({ profile }: { profile: Me }) {
  const form = useForm({ username: profile.username }, async ({ username }) => {
    const profile = await changeMe({ username });
    profileChanged(profile);
    userChanged(profile);
    toastOk('Username changed');
  });
  return (
    <Section title="Profile" lead={leadOf(profile)}>
      <form class="form" onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <TextField
          label="Username"
          {...form.field('username')}
          hint="Letters, digits, dots, hyphens and underscores."
          input={NAME_INPUT}
        />
        <Button
          type="submit"
          disabled={form.values.username === profile.username}
          busy={form.busy ? 'Saving' : undefined}
        >
          Save
        </Button>
      </form>
    </Section>
  );
}

/** For an account that came by the OpenID provider. */
function FirstPassword() {
  const { confirmed, dialog } = useConfirmation();
  const set = async ({ new_password }: { new_password: string }): Promise<void> => {
    await confirmed((proof) => setPassword(new_password, proof));
    await loadMe();
    toastOk('Password set');
  };
  const form = useForm({ new_password: '' }, set, ['password']);
  const fresh = form.field('new_password');
  return (
    <Section title="Password" lead="You sign in with a provider. A password is another way to sign in.">
      <form class="form" onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PasswordField
          label="New password"
          name="new_password"
          {...fresh}
          error={fresh.error ?? form.faults['password']}
          hint={GOOD_PASSWORD}
          fresh
        />
        <Button type="submit" busy={form.busy && dialog === null ? 'Setting' : undefined}>
          Set password
        </Button>
      </form>
      {dialog}
    </Section>
  );
}

const GOOD_PASSWORD = 'At least 8 characters. A few unrelated words make a good password.';

function Password() {
  const change = async (values: { old_password: string; new_password: string }): Promise<void> => {
    await changePassword(values.old_password, values.new_password);
    form.reset();
    toastOk('Password changed');
  };
  const form = useForm({ old_password: '', new_password: '' }, change, ['password']);
  const fresh = form.field('new_password');
  return (
    <Section
      title="Password"
      lead={
        <>
          Changing it signs you out everywhere else. Passkeys, connected sign-ins, SSH keys, API tokens and
          share links stay: <a href={CREDENTIALS_PATH}>check them</a>.
        </>
      }
    >
      <form class="form" onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PasswordField label="Current password" name="old_password" {...form.field('old_password')} />
        <PasswordField
          label="New password"
          name="new_password"
          {...fresh}
          error={fresh.error ?? form.faults['password']}
          hint={GOOD_PASSWORD}
          fresh
        />
        <Button type="submit" busy={form.busy ? 'Changing' : undefined}>
          Change password
        </Button>
      </form>
    </Section>
  );
}
