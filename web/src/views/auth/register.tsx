import { register } from '../../session/actions.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { NOBODY, PersonFields } from './person-fields.tsx';
import { useFormFocus } from './use-form-focus.ts';
import { useForm } from './use-submit.ts';
import { WithAuthOptions } from './with-auth-options.tsx';

export function Register() {
  return (
    <WithAuthOptions>
      {(options) => (options !== null && !options.open_registration ? <Closed /> : <RegisterForm />)}
    </WithAuthOptions>
  );
}

function Closed() {
  return (
    <AuthFrame title="Registration is closed" lead="Ask an administrator for an account.">
      <div class="auth-more">
        <p>
          <a href="/sign-in">Back to sign in</a>
        </p>
      </div>
    </AuthFrame>
  );
}

function RegisterForm() {
  const form = useForm(NOBODY, register);
  const self = useFormFocus(form.reason);
  return (
    <AuthFrame title="Create an account">
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PersonFields field={form.field} />
        <Button kind="primary" type="submit" busy={form.busy ? 'Creating your account' : undefined}>
          Create account
        </Button>
      </form>
      <div class="auth-more">
        <p>
          Already have an account? <a href="/sign-in">Sign in</a>
        </p>
      </div>
    </AuthFrame>
  );
}
