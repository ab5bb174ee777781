import { useState } from 'preact/hooks';
import { register } from '../../session/actions.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './frame.tsx';
import { NOBODY, PersonFields } from './person-fields.tsx';
import { useAuthOptions } from './use-auth-options.ts';
import { useFormFocus } from './use-form-focus.ts';
import { useSubmit } from './use-submit.ts';

export function Register() {
  const [person, setPerson] = useState(NOBODY);
  const options = useAuthOptions();
  const form = useSubmit(() => register(person), ['email', 'username', 'password']);
  const self = useFormFocus(form.reason);
  if (options !== null && !options.open_registration) {
    return (
      <AuthFrame title="Registration is closed" lead="Ask an administrator of this Berth for an account.">
        <p>
          <a href="/sign-in">Back to sign in</a>
        </p>
      </AuthFrame>
    );
  }
  return (
    <AuthFrame title="Create an account">
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PersonFields person={person} onChange={setPerson} faults={form.faults} />
        <Button kind="primary" type="submit" busy={form.busy ? 'Creating your account' : undefined}>
          Create account
        </Button>
      </form>
      <div class="auth-more">
        <p>
          Have one already? <a href="/sign-in">Sign in</a>
        </p>
      </div>
    </AuthFrame>
  );
}
