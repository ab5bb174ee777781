import type { MfaRequired } from '../../api/types.ts';
import { passkeysPossible } from '../../lib/browser/passkeys.ts';
import { giveCode, givePasskey } from '../../session/actions.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { CodeField } from './code-field.tsx';
import { useFormFocus } from './use-form-focus.ts';
import { useForm, useSubmit } from './use-submit.ts';

type StepProps = {
  readonly waiting: MfaRequired;
  /** What has been accepted. */
  readonly first?: string;
  readonly onBack: () => void;
  /** Called when the user is signed in. */
  readonly onDone?: () => void;
};

/** After the right password or the provider: a code, or a passkey. */
export function SecondStep({ waiting, first = 'The password is correct.', onBack, onDone }: StepProps) {
  const form = useForm({ code: '' }, ({ code }) => giveCode(waiting, code.trim()).then(onDone));
  const passkey = useSubmit(() => givePasskey(waiting).then(onDone), []);
  const codes = waiting.methods.some((method) => method !== 'passkey');
  const failure = form.failure ?? passkey.failure;
  const self = useFormFocus(form.reason);
  return (
    <AuthFrame title="One more step" lead={`${first} This account also needs a second factor.`}>
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {failure !== null && <Problem failure={failure} />}
        {codes && (
          <CodeField
            {...form.field('code')}
            hint="Six digits from your authenticator app, or one of your recovery codes."
          />
        )}
        {codes && (
          <Button kind="primary" type="submit" busy={form.busy ? 'Checking' : undefined}>
            Sign in
          </Button>
        )}
        {waiting.methods.includes('passkey') && passkeysPossible() && (
          <Button
            icon="key"
            onClick={() => void passkey.submit()}
            busy={passkey.busy ? 'Waiting for the passkey' : undefined}
          >
            Use a passkey
          </Button>
        )}
      </form>
      <div class="auth-more">
        <Button kind="quiet" icon="back" onClick={onBack}>
          Start over
        </Button>
      </div>
    </AuthFrame>
  );
}
