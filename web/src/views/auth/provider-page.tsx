import { useEffect, useState } from 'preact/hooks';
import { BerthError } from '../../api/errors.ts';
import { finishIdentity } from '../../api/identity/account.ts';
import type { MfaRequired } from '../../api/types.ts';
import { go, isApart, navigate } from '../../lib/browser/router.ts';
import { finishProvider } from '../../session/actions.ts';
import { session } from '../../session/session.ts';
import { accountLinks, INVITE_PATH } from '../../state/account-links.ts';
import { type ProviderReturn, takeProviderReturn } from '../../state/provider-return.ts';
import { toastOk } from '../../state/toasts.ts';
import { Arriving, Button } from '../../ui/button.tsx';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { SecondStep } from './second-factor-step.tsx';
import { UsernamePage } from './username-page.tsx';

/** What is left to do, and where the sign-in began. */
type SecondFactor = { readonly waiting: MfaRequired; readonly returnPath: string };

/** A sign-in that makes an account, whose username the person chooses. */
type NewUsername = Omit<Extract<ProviderReturn, { readonly kind: 'arrived' }>, 'kind'> & {
  /** Empty for none. */
  readonly suggestion: string;
};

type Left =
  | ({ readonly kind: 'second_factor' } & SecondFactor)
  | ({ readonly kind: 'username' } & NewUsername);

type Step = { readonly kind: 'finishing' } | Left | { readonly kind: 'failed'; readonly failure: unknown };

/** Whether the answer is used up and the browser goes on; another page may take that long to load. */
let isLeaving = false;

/** As if a link had been followed: the page there reads what is behind `#`. */
function goBack(to: string): void {
  isLeaving = isApart(to);
  go(to, { replace: true });
  dispatchEvent(new PopStateEvent('popstate'));
}

const DONE = { link: 'Sign-in connected', confirm: 'You are confirmed. Repeat the change' } as const;

/** Null when all is done. */
async function complete(back: ProviderReturn | null): Promise<Left | null> {
  if (back === null) throw new BerthError(0, 'provider_sign_in_expired', 'expired');
  if (back.kind === 'refused') throw new BerthError(0, back.code, back.code);
  const { id, purpose, returnPath } = back;
  if (purpose === 'sign_in' || purpose === 'invitation') {
    const answer = await finishOrName(id);
    if (answer !== null && 'suggestion' in answer)
      return { kind: 'username', id, purpose, returnPath, ...answer };
    if (answer !== null) return { kind: 'second_factor', waiting: answer, returnPath };
    if (purpose === 'invitation') accountLinks.invite.take();
  } else {
    if (session.value.kind !== 'signed_in') throw new BerthError(0, 'provider_sign_in_expired', 'expired');
    await finishIdentity(id);
    toastOk(DONE[purpose]);
  }
  goBack(returnPath);
  return null;
}

/** What `finishProvider` answers, or that it asks for another username. */
async function finishOrName(id: string): Promise<MfaRequired | Pick<NewUsername, 'suggestion'> | null> {
  try {
    return await finishProvider(id);
  } catch (failure) {
    if (!(failure instanceof BerthError) || failure.code !== 'provider_username_needed') throw failure;
    return { suggestion: String(failure.body['suggestion'] ?? '') };
  }
}

/** The step, and how to get to another. */
function useReturn(): [Step, (step: Step) => void] {
  const [step, setStep] = useState<Step>({ kind: 'finishing' });
  useEffect(() => {
    if (isLeaving) return;
    complete(takeProviderReturn()).then(
      (left) => left !== null && setStep(left),
      (failure) => setStep({ kind: 'failed', failure }),
    );
  }, []);
  return [step, setStep];
}

function joined({ purpose, returnPath }: NewUsername): void {
  if (purpose === 'invitation') accountLinks.invite.take();
  goBack(returnPath);
}

const toSignIn = (): void => navigate('/sign-in', { replace: true });

/** To where the sign-in began: an invitation may wait for another way to accept it. */
function WayBack() {
  if (!accountLinks.invite.waits()) {
    return (
      <Button icon="back" onClick={toSignIn}>
        Back to sign in
      </Button>
    );
  }
  return (
    <Button icon="back" onClick={() => navigate(INVITE_PATH, { replace: true })}>
      Back to the invitation
    </Button>
  );
}

type ProviderUsernameProps = NewUsername & { readonly onSecondFactor: (left: Left) => void };

/** Meanwhile the account may exist, with a second factor. */
const ProviderUsername = ({ onSecondFactor, ...step }: ProviderUsernameProps) => (
  <UsernamePage
    id={step.id}
    suggestion={step.suggestion}
    back={<WayBack />}
    onDone={(waiting) =>
      waiting === null
        ? joined(step)
        : onSecondFactor({ kind: 'second_factor', waiting, returnPath: step.returnPath })
    }
  />
);

type ProviderSecondStepProps = SecondFactor & { readonly onBack: () => void };

const ProviderSecondStep = ({ waiting, returnPath, onBack }: ProviderSecondStepProps) => (
  <SecondStep
    waiting={waiting}
    first="The provider knows you."
    onBack={onBack}
    onDone={() => goBack(returnPath)}
  />
);

/** Completes what the OpenID provider answered, or shows why it failed. */
export function ProviderPage() {
  const [step, setStep] = useReturn();
  switch (step.kind) {
    case 'finishing':
      return <Arriving words="Signing in…" />;
    case 'second_factor':
      return <ProviderSecondStep {...step} onBack={toSignIn} />;
    case 'username':
      return <ProviderUsername {...step} onSecondFactor={setStep} />;
    case 'failed':
      return (
        <AuthFrame title="Not signed in">
          <Problem failure={step.failure} />
          <div class="auth-more">
            <WayBack />
          </div>
        </AuthFrame>
      );
  }
}

/** Of somebody who connects the provider, or confirms there. */
export function ProviderWhileSignedIn() {
  const [step, setStep] = useReturn();
  useTitle('Sign-in provider');
  if (step.kind === 'finishing') return <Arriving words="One moment…" />;
  if (step.kind === 'second_factor') {
    return <ProviderSecondStep {...step} onBack={() => navigate('/')} />;
  }
  if (step.kind === 'username') return <ProviderUsername {...step} onSecondFactor={setStep} />;
  return (
    <Page title="Nothing was changed">
      <Problem failure={step.failure} />
      <div class="section-actions">
        <Button icon="back" onClick={() => navigate('/settings/security', { replace: true })}>
          Back to the settings
        </Button>
      </div>
    </Page>
  );
}
