import { useEffect } from 'preact/hooks';
import type { InvitationOffer } from '../../../api/types.ts';
import { navigate } from '../../../lib/browser/router.ts';
import { onDay } from '../../../lib/format/format.ts';
import {
  acceptAtProvider,
  acceptInvitation,
  checkInvitation,
  type Person,
} from '../../../session/actions.ts';
import { accountLinks } from '../../../state/account-links.ts';
import { Arriving, Button } from '../../../ui/button.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { AuthFrame } from '../auth-frame.tsx';
import { PersonFields } from '../person-fields.tsx';
import { useFormFocus } from '../use-form-focus.ts';
import { useForm, useSubmit } from '../use-submit.ts';
import { WithAuthOptions } from '../with-auth-options.tsx';
import { RefusedLink } from './refused-link.tsx';
import { useOffer } from './use-offer.ts';

/** Makes the account that an invitation offers. */
export function AcceptPage() {
  const offer = useOffer(accountLinks.invite, checkInvitation);
  switch (offer.kind) {
    case 'checking':
      return <Arriving words="One moment…" />;
    case 'refused':
      return <RefusedLink title="Invitation" failure={offer.failure} />;
    case 'open':
      return (
        <WithAuthOptions>
          {(options) => (
            <AcceptForm code={offer.code} offer={offer.value} provider={options?.provider ?? null} />
          )}
        </WithAuthOptions>
      );
  }
}

type AcceptFormProps = {
  readonly code: string;
  readonly offer: InvitationOffer;
  /** What to call the OpenID provider; null without one. */
  readonly provider: string | null;
};

function AcceptForm({ code, offer, provider }: AcceptFormProps) {
  const before: Person = { email: offer.email ?? '', username: offer.username ?? '', password: '' };
  const form = useForm(before, async (person) => {
    await acceptInvitation(code, person);
    navigate('/', { replace: true });
  });
  const self = useFormFocus(form.reason);
  const role = offer.role === 'admin' ? ' as an administrator' : '';
  const until = offer.account_ends_at === null ? '' : `, until ${onDay(offer.account_ends_at)}`;
  return (
    <AuthFrame
      title="You are invited"
      lead={`${offer.invited_by} invites you to join this server${role}${until}.`}
    >
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        <PersonFields
          field={form.field}
          fixed={{ email: offer.email !== null, username: offer.username !== null }}
        />
        <Button kind="primary" type="submit" busy={form.busy ? 'Creating' : undefined}>
          Create account
        </Button>
      </form>
      {provider !== null && <AtProvider code={code} email={offer.email} provider={provider} />}
    </AuthFrame>
  );
}

type AtProviderProps = {
  readonly code: string;
  readonly email: string | null;
  readonly provider: string;
};

/** Accepts the invitation without a password. */
function AtProvider({ code, email, provider }: AtProviderProps) {
  const leaving = useSubmit(() => acceptAtProvider(code), []);
  // why: the browser leaves this page, and comes back to it after a refusal
  useEffect(() => accountLinks.invite.hold(code), [code]);
  return (
    <form class="auth-other" onSubmit={(event) => void leaving.submit(event)}>
      <p>
        {email === null
          ? `Or use your account at ${provider}, without a password.`
          : `Or use your account at ${provider} with the address ${email}, without a password.`}
      </p>
      {leaving.failure !== null && <Problem failure={leaving.failure} />}
      <Button icon="user" type="submit" busy={leaving.busy ? 'Leaving this page' : undefined}>
        Continue with {provider}
      </Button>
    </form>
  );
}
