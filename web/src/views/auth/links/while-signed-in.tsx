import { useEffect } from 'preact/hooks';
import { navigate } from '../../../lib/browser/router.ts';
import { session, signOut } from '../../../session/session.ts';
import type { AccountLinkCode } from '../../../state/account-links.ts';
import { toastFailure } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { useTitle } from '../../../ui/hooks/use-title.ts';
import { Page } from '../../../ui/page.tsx';

type Props = {
  readonly link: AccountLinkCode;
  /** Where to go when the link has been used. */
  readonly next?: string;
};

/** The link of somebody who is signed in: perhaps it is for another account. */
export function LinkWhileSignedIn({ link, next = '/' }: Props) {
  const isUsed = !link.waits();
  useTitle('Sign out first');
  useEffect(() => {
    if (isUsed) navigate(next, { replace: true });
  }, [isUsed]);
  if (isUsed) return null;
  const now = session.value;
  return (
    <Page title="Sign out first">
      <p>
        You are signed in{now.kind === 'signed_in' && ` as ${now.user.username}`}. This link works only while
        you are signed out.
      </p>
      <div class="section-actions">
        <Button kind="primary" icon="leave" onClick={() => void signOut().catch(toastFailure)}>
          Sign out and continue
        </Button>
        <Button onClick={() => navigate('/')}>Stay signed in</Button>
      </div>
    </Page>
  );
}
