import type { InvitationOffer } from '../../../api/types.ts';
import { navigate } from '../../../lib/browser/router.ts';
import { acceptInvitation, checkInvitation, type Person } from '../../../session/actions.ts';
import { accountLinks } from '../../../state/account-links.ts';
import { Arriving, Button } from '../../../ui/button.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { AuthFrame } from '../auth-frame.tsx';
import { PersonFields } from '../person-fields.tsx';
import { useFormFocus } from '../use-form-focus.ts';
import { useForm } from '../use-submit.ts';
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
      return <AcceptForm code={offer.code} offer={offer.value} />;
  }
}

function AcceptForm({ code, offer }: { readonly code: string; readonly offer: InvitationOffer }) {
  const before: Person = { email: offer.email ?? '', username: offer.username ?? '', password: '' };
  const form = useForm(before, async (person) => {
    await acceptInvitation(code, person);
    navigate('/', { replace: true });
  });
  const self = useFormFocus(form.reason);
  const role = offer.role === 'admin' ? ' as an administrator' : '';
  return (
    <AuthFrame title="You are invited" lead={`${offer.invited_by} invites you to join this server${role}.`}>
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
    </AuthFrame>
  );
}
