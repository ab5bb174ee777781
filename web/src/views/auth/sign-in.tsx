import { useState } from 'preact/hooks';
import type { AuthOptions, MfaRequired } from '../../api/types.ts';
import { passkeysPossible } from '../../lib/browser/passkeys.ts';
import { nextPath } from '../../lib/browser/router.ts';
import { enterAsGuest, signIn, signInAtProvider, signInWithPasskey } from '../../session/actions.ts';
import { endWords } from '../../session/ends.ts';
import { session, stillAtProvider } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/fields/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { SecondStep } from './second-factor-step.tsx';
import { useFormFocus } from './use-form-focus.ts';
import { useForm, useSubmit } from './use-submit.ts';
import { WithAuthOptions } from './with-auth-options.tsx';

export function SignIn() {
  const [waiting, setWaiting] = useState<MfaRequired | null>(null);
  if (waiting !== null) return <SecondStep waiting={waiting} onBack={() => setWaiting(null)} />;
  return (
    <WithAuthOptions>{(options) => <FirstStep options={options} onWaiting={setWaiting} />}</WithAuthOptions>
  );
}

type FirstStepProps = {
  readonly options: AuthOptions | null;
  readonly onWaiting: (waiting: MfaRequired | null) => void;
};

function FirstStep({ options, onWaiting }: FirstStepProps) {
  const form = useForm({ email: '', password: '' }, async ({ email, password }) =>
    onWaiting(await signIn(email.trim(), password)),
  );
  const self = useFormFocus(form.reason);
  const guest = useSubmit(enterAsGuest, []);
  return (
    <AuthFrame title="Sign in">
      {options?.setup_required && <SetupHint />}
      {form.failure === null && <EndNote />}
      <StillThere label={options?.provider ?? 'the provider'} />
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <TextField
          label="Email or username"
          {...form.field('email')}
          input={{ name: 'email', autocomplete: 'username', required: true, ...NAME_INPUT }}
        />
        <PasswordField {...form.field('password')} />
        <Button kind="primary" type="submit" busy={form.busy ? 'Signing in' : undefined}>
          Sign in
        </Button>
        {passkeysPossible() && <PasskeyButton />}
        {options?.provider && (
          <Button icon="user" onClick={() => signInAtProvider(nextPath())}>
            Sign in with {options.provider}
          </Button>
        )}
      </form>
      {guest.failure !== null && <Problem failure={guest.failure} />}
      <div class="auth-more">
        <p>Forgot your password? Ask your administrator for a reset link.</p>
        {options?.open_registration && (
          <p>
            New here? <a href="/register">Create an account</a>
          </p>
        )}
        {options?.guests_enabled && (
          <Button
            kind="quiet"
            onClick={() => void guest.submit()}
            busy={guest.busy ? 'Signing in' : undefined}
          >
            Continue as a guest
          </Button>
        )}
      </div>
    </AuthFrame>
  );
}

/** After a sign-out of a session that the provider opened. */
function StillThere({ label }: { readonly label: string }) {
  const url = stillAtProvider.value;
  if (url === null) return null;
  return (
    <div class="note" role="status">
      <strong>You are signed out of Berth.</strong>
      <p>
        You may still be signed in at {label}. <a href={url}>Sign out there, too</a>
      </p>
    </div>
  );
}

/** Why the user has to sign in again. */
function EndNote() {
  const now = session.value;
  const words = now.kind === 'signed_out' ? endWords(now.ended) : null;
  if (words === null) return null;
  return (
    <div class="note" role="status">
      <strong>{words.title}</strong>
      <p>{words.next}</p>
    </div>
  );
}

export const NAME_INPUT = { autocapitalize: 'none', spellcheck: false } as const;

function SetupHint() {
  return (
    <div class="note">
      <strong>This server has no account yet.</strong>
      <p>
        Open the one-time set-up link that Berth printed when it started, or{' '}
        <a href="/setup">enter its code manually</a>.
      </p>
    </div>
  );
}

function PasskeyButton() {
  const passkey = useSubmit(signInWithPasskey, []);
  return (
    <>
      <Button
        icon="key"
        onClick={() => void passkey.submit()}
        busy={passkey.busy ? 'Waiting for the passkey' : undefined}
      >
        Sign in with a passkey
      </Button>
      {passkey.failure !== null && <Problem failure={passkey.failure} />}
    </>
  );
}
