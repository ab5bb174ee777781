import { useState } from 'preact/hooks';
import { changeMe, changePassword } from '../../api/account.ts';
import type { Me } from '../../api/types.ts';
import { userChanged } from '../../session/session.ts';
import { me } from '../../state/profile.ts';
import { toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Section } from '../../ui/section.tsx';
import { useSubmit } from '../auth/use-submit.ts';

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
      {profile.email !== null && <Password />}
    </>
  );
}

function Name({ profile }: { profile: Me }) {
  const [username, setUsername] = useState(profile.username);
  const form = useSubmit(async () => {
    me.value = await changeMe({ username });
    userChanged(me.value);
    toastOk('Username changed');
  }, ['username']);
  return (
    <Section title="Profile" lead={profile.email ?? 'You are a guest: no email address, no password.'}>
      <form class="form" onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <TextField
          label="Username"
          value={username}
          onInput={setUsername}
          error={form.faults['username']}
          hint="Letters, digits, dots, hyphens and underscores."
          input={NAME_INPUT}
        />
        <Button
          type="submit"
          disabled={username === profile.username}
          busy={form.busy ? 'Saving' : undefined}
        >
          Save
        </Button>
      </form>
    </Section>
  );
}

function Password() {
  const [old, setOld] = useState('');
  const [fresh, setFresh] = useState('');
  const form = useSubmit(async () => {
    await changePassword(old, fresh);
    setOld('');
    setFresh('');
    toastOk('Password changed');
  }, ['old_password', 'new_password', 'password']);
  return (
    <Section title="Password" lead="Changing it signs you out everywhere else.">
      <form class="form" onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PasswordField
          label="Current password"
          name="old_password"
          value={old}
          onInput={setOld}
          error={form.faults['old_password']}
        />
        <PasswordField
          label="New password"
          name="new_password"
          value={fresh}
          onInput={setFresh}
          error={form.faults['new_password'] ?? form.faults['password']}
          hint="At least 8 characters. A few unrelated words make a good password."
          fresh
        />
        <Button type="submit" busy={form.busy ? 'Changing' : undefined}>
          Change password
        </Button>
      </form>
    </Section>
  );
}
