import { useState } from 'preact/hooks';
import { changeMe, removePasscode, setPasscode } from '../../api/identity/account.ts';
import type { Me } from '../../api/types.ts';
import { plural } from '../../lib/format/format.ts';
import { lockNow } from '../../session/session.ts';
import { loadMe, profileChanged } from '../../state/profile.ts';
import { toastFailure, toastOk } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, SelectField } from '../../ui/fields/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { Section } from '../../ui/section.tsx';
import { useForm } from '../auth/use-submit.ts';
import { Removal } from './remove-dialog.tsx';

const CHOICES = [1, 5, 10, 15, 30, 60, 240];
const PASSCODE_INPUT = { autocomplete: 'off', maxLength: 64 } as const;

/** The passcode that unlocks the screen, and when it locks by itself. */
export function ScreenLock({ profile }: { profile: Me }) {
  const { passcode_set } = profile;
  return (
    <Section
      title="Screen lock"
      lead="A passcode covers this page while you are away. Your terminals keep running."
      action={
        passcode_set && (
          <Button icon="lock" onClick={() => void lockNow().catch(toastFailure)}>
            Lock now
          </Button>
        )
      }
    >
      <PasscodeForm isSet={passcode_set} />
      {passcode_set && <AutoLock minutes={profile.auto_lock_minutes} />}
    </Section>
  );
}

function PasscodeForm({ isSet }: { isSet: boolean }) {
  const [removing, setRemoving] = useState(false);
  const form = useForm({ current_passcode: '', passcode: '' }, async ({ passcode, current_passcode }) => {
    await (isSet ? setPasscode(passcode, current_passcode) : setPasscode(passcode));
    form.reset();
    await loadMe();
    toastOk(isSet ? 'Passcode changed' : 'Passcode set');
  });
  const current = form.values.current_passcode;
  return (
    <form class="form" onSubmit={(event) => void form.submit(event)}>
      {form.failure !== null && <Problem failure={form.failure} />}
      {isSet && (
        <PasswordField
          label="Current passcode"
          name="current_passcode"
          {...form.field('current_passcode')}
          hint="To change or remove it."
          {...PASSCODE_INPUT}
        />
      )}
      <PasswordField
        label={isSet ? 'New passcode' : 'Passcode'}
        name="passcode"
        {...form.field('passcode')}
        hint="4 to 64 characters. Do not reuse your password."
        {...PASSCODE_INPUT}
      />
      <div class="section-actions">
        <Button type="submit" busy={form.busy ? 'Saving' : undefined}>
          {isSet ? 'Change passcode' : 'Set passcode'}
        </Button>
        {isSet && (
          <Button kind="quiet" disabled={current === ''} onClick={() => setRemoving(true)}>
            Remove passcode
          </Button>
        )}
      </div>
      {removing && (
        <Removal
          title="Remove the passcode?"
          action="Remove"
          done="Passcode removed"
          work={() => removePasscode(current)}
          onDone={() => {
            form.field('current_passcode').onInput('');
            void loadMe().catch(toastFailure);
          }}
          onClose={() => setRemoving(false)}
        >
          <p>Without a passcode, the screen cannot be locked, by you or automatically.</p>
        </Removal>
      )}
    </form>
  );
}

const spelled = (minutes: number): string =>
  minutes % 60 === 0 ? plural(minutes / 60, 'hour') : plural(minutes, 'minute');

function AutoLock({ minutes }: { minutes: number | null }) {
  const choices =
    minutes === null || CHOICES.includes(minutes) ? CHOICES : [...CHOICES, minutes].sort((a, b) => a - b);
  const change = async (value: string): Promise<void> => {
    try {
      profileChanged(await changeMe({ auto_lock_minutes: value === '' ? null : Number(value) }));
      toastOk('Saved');
    } catch (failure) {
      toastFailure(failure);
    }
  };
  return (
    <div class="form">
      <SelectField
        label="Lock automatically"
        value={minutes === null ? '' : String(minutes)}
        onInput={(value) => void change(value)}
        options={[
          ['', 'Never'],
          ...choices.map((each) => [`${each}`, `After ${spelled(each)} of inactivity`] as const),
        ]}
      />
    </div>
  );
}
