import type { ComponentChildren } from 'preact';
import type { MfaRequired } from '../../api/types.ts';
import { finishProvider } from '../../session/actions.ts';
import { Button } from '../../ui/button.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { UsernameField } from './person-fields.tsx';
import { useFormFocus } from './use-form-focus.ts';
import { useForm } from './use-submit.ts';

type UsernamePageProps = {
  /** Of the sign-in at the provider. */
  readonly id: string;
  /** A free name; empty when nothing fits or all names close to it are taken. */
  readonly suggestion: string;
  /** The way out. */
  readonly back: ComponentChildren;
  /** With what the second step asks for; null when signed in. */
  readonly onDone: (waiting: MfaRequired | null) => void;
};

/** Asks somebody who signs in by the provider for the first time for a username that is free here. */
export function UsernamePage({ id, suggestion, back, onDone }: UsernamePageProps) {
  const form = useForm({ username: suggestion }, async ({ username }) => {
    onDone(await finishProvider(id, username));
  });
  const self = useFormFocus(form.reason);
  return (
    <AuthFrame
      title="Choose a username"
      lead={
        suggestion === ''
          ? 'The name that you have at the provider cannot be used here.'
          : 'The name that you have at the provider is taken here.'
      }
    >
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <UsernameField field={form.field('username')} />
        <Button kind="primary" type="submit" busy={form.busy ? 'Creating your account' : undefined}>
          Create account
        </Button>
      </form>
      <div class="auth-more">{back}</div>
    </AuthFrame>
  );
}
