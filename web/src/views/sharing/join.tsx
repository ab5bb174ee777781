import { useEffect, useRef, useState } from 'preact/hooks';
import { hasStatus } from '../../api/errors.ts';
import { joinCollaboration } from '../../api/terminals/collaborations.ts';
import { navigate } from '../../lib/browser/router.ts';
import { takeInvitation } from '../../state/invitation.ts';
import { Arriving, Button } from '../../ui/button.tsx';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { AllContainersLink, Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';

/** Joins the shared terminal that a link leads to. */
export function JoinPage() {
  useTitle('Join a terminal');
  const code = useRef<string | null>(null);
  code.current ??= takeInvitation();
  const [failure, setFailure] = useState<unknown>(null);
  const join = (): void => {
    setFailure(null);
    joinCollaboration(code.current ?? '').then(
      ({ container }) => navigate(`/containers/${encodeURIComponent(container.db_id)}`, { replace: true }),
      setFailure,
    );
  };
  useEffect(() => {
    if (code.current !== '') join();
  }, []);
  if (code.current === '') {
    return (
      <div class="empty">
        <h1>Open the link again</h1>
        <p>
          To join a shared terminal, open the link that its owner sent you, or{' '}
          <a href="/">go to your containers</a>.
        </p>
      </div>
    );
  }
  if (failure !== null) {
    return (
      <Page title="Not joined">
        <Problem failure={failure} />
        <div class="section-actions">
          {!hasStatus(failure, 404) && (
            <Button kind="primary" onClick={join}>
              Try again
            </Button>
          )}
          <AllContainersLink />
        </div>
      </Page>
    );
  }
  return <Arriving words="Joining…" />;
}
