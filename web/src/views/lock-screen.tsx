import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { signOut, unlock } from '../session/session.ts';
import { toastFailure } from '../state/toasts.ts';
import { Button } from '../ui/button.tsx';
import { PasswordField } from '../ui/fields/field.tsx';
import { Icon } from '../ui/icon.tsx';
import { Problem } from '../ui/problem.tsx';
import { useForm } from './auth/use-submit.ts';

const PASSCODE_INPUT = { autocomplete: 'off', maxLength: 64 } as const;

/** Covers everything until the passcode is given. What is below stays as it was. */
export function LockScreen({ username }: { username: string }) {
  const ref = useRef<HTMLDialogElement>(null);
  const form = useForm({ passcode: '' }, ({ passcode }) => unlock(passcode));
  // Before the next key arrives, which must not reach what is behind.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    const show = (): void => {
      dialog?.showModal();
      dialog?.querySelector('input')?.focus();
    };
    show();
    // why: browsers let a second Escape close any dialog
    dialog?.addEventListener('close', show);
    return () => {
      dialog?.removeEventListener('close', show);
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  useEffect(() => {
    if (form.reason === null) return;
    form.reset();
    ref.current?.querySelector('input')?.focus();
  }, [form.reason]);
  return (
    <dialog
      ref={ref}
      class="lock-screen"
      aria-labelledby="lock-title"
      onCancel={(event) => event.preventDefault()}
    >
      <div class="auth-card">
        <div class="auth-mark">
          <Icon name="lock" size={28} />
          <span>Berth</span>
        </div>
        <h1 id="lock-title">Locked</h1>
        <p class="lead">Enter your passcode to continue, {username}. Your terminals keep running.</p>
        <form onSubmit={(event) => void form.submit(event)}>
          {form.failure !== null && <Problem failure={form.failure} />}
          <PasswordField label="Passcode" name="passcode" {...form.field('passcode')} {...PASSCODE_INPUT} />
          <Button kind="primary" type="submit" busy={form.busy ? 'Unlocking' : undefined}>
            Unlock
          </Button>
        </form>
        <div class="auth-more">
          <Button kind="quiet" icon="leave" onClick={() => void signOut().catch(toastFailure)}>
            Sign out
          </Button>
        </div>
      </div>
    </dialog>
  );
}
