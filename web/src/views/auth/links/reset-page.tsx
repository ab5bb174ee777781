import { useState } from 'preact/hooks';
import type { MfaRequired, ResetOffer } from '../../../api/types.ts';
import { navigate } from '../../../lib/browser/router.ts';
import { checkReset, useReset } from '../../../session/actions.ts';
import { accountLinks } from '../../../state/account-links.ts';
import { Arriving, Button } from '../../../ui/button.tsx';
import { PasswordField } from '../../../ui/fields/field.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { RESET_DONE_PATH } from '../../settings/sign-ins/credentials-page.tsx';
import { AuthFrame } from '../auth-frame.tsx';
import { SecondStep } from '../second-factor-step.tsx';
import { useFormFocus } from '../use-form-focus.ts';
import { useForm } from '../use-submit.ts';
import { RefusedLink } from './refused-link.tsx';
import { useOffer } from './use-offer.ts';

const toNext = (): void => navigate(RESET_DONE_PATH, { replace: true });

/** Sets a new password, or removes the second factor. */
export function ResetPage() {
  const offer = useOffer(accountLinks.reset, checkReset);
  switch (offer.kind) {
    case 'checking':
      return <Arriving words="One moment…" />;
    case 'refused':
      return <RefusedLink title="Reset link" failure={offer.failure} />;
    case 'open':
      return <Reset key={offer.code} code={offer.code} offer={offer.value} />;
  }
}

type ResetProps = { readonly code: string; readonly offer: ResetOffer };

/** One link: the next one in the same tab starts anew. */
function Reset(reset: ResetProps) {
  const [waiting, setWaiting] = useState<MfaRequired | null>(null);
  return waiting === null ? (
    <ResetForm {...reset} onWaiting={setWaiting} />
  ) : (
    <SecondStep waiting={waiting} onBack={() => navigate('/sign-in')} onDone={toNext} />
  );
}

const WORDS = {
  password: {
    title: 'Choose a password',
    lead: 'This signs you out everywhere else and revokes your API tokens.',
    hint: 'At least 8 characters. A few unrelated words make a good password.',
    action: 'Set password',
  },
  second_factor: {
    title: 'Remove the second factor',
    lead: 'This removes your authenticator app, recovery codes and passkeys, signs you out everywhere else, and revokes your API tokens.',
    hint: 'Your current password.',
    action: 'Remove',
  },
} as const;

type ResetFormProps = ResetProps & { readonly onWaiting: (waiting: MfaRequired) => void };

function ResetForm({ code, offer: { kind, username }, onWaiting }: ResetFormProps) {
  const { title, lead, hint, action } = WORDS[kind];
  const form = useForm({ password: '' }, async ({ password }) => {
    const waiting = await useReset(code, password);
    if (waiting === null) toNext();
    else onWaiting(waiting);
  });
  const self = useFormFocus(form.reason);
  return (
    <AuthFrame title={title} lead={`For ${username}. ${lead}`}>
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PasswordField {...form.field('password')} hint={hint} fresh={kind === 'password'} />
        <Button kind="primary" type="submit" busy={form.busy ? 'Saving' : undefined}>
          {action}
        </Button>
      </form>
    </AuthFrame>
  );
}
