import { useState } from 'preact/hooks';
import { BerthError } from '../../api/errors.ts';
import { goToProvider, type Proof } from '../../api/identity/account.ts';
import { PasswordField } from '../../ui/fields/field.tsx';
import { useForm } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';
import { CodeDialog } from './second-factor/code-dialog.tsx';

type By = 'password' | 'code' | 'provider';
type Prompt = {
  readonly by: By;
  /** Throws when the proof is wrong; any other failure goes to the caller that asked for the confirmation. */
  readonly go: (proof: Proof) => Promise<void>;
  readonly cancel: () => void;
};

const OF_THE_PROOF: Readonly<Record<By, string>> = {
  password: 'wrong_password',
  code: 'wrong_code',
  provider: '',
};

/** Whether a different proof may succeed. */
const isOfTheProof = (failure: unknown, by: By): boolean =>
  failure instanceof BerthError &&
  (failure.code === OF_THE_PROOF[by] || (failure.code === 'validation_failed' && by in failure.fields));

/** The proof that the service wants; null when it refused for another reason. */
function wantedBy(failure: unknown): By | null {
  if (!(failure instanceof BerthError) || failure.code !== 'confirmation_required') return null;
  const { fields } = failure;
  if ('provider' in fields) return 'provider';
  return 'code' in fields ? 'code' : 'password';
}

/**
 * Runs requests for which the service wants a recent sign-in. When it refuses one, the user is asked for a password or
 * a code, and the request is repeated with it. Render `dialog`, and no other dialog while it is open.
 */
export function useConfirmation() {
  const [prompt, setPrompt] = useState<Prompt | null>(null);

  function promptFor<T>(by: By, work: (proof: Proof) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = async (proof: Proof): Promise<void> => {
        try {
          resolve(await work(proof));
        } catch (failure) {
          if (isOfTheProof(failure, by)) throw failure;
          reject(failure);
        }
        setPrompt(null);
      };
      const cancel = (): void => {
        setPrompt(null);
        reject(new BerthError(0, 'confirmation_cancelled', 'nothing was changed'));
      };
      setPrompt({ by, go, cancel });
    });
  }

  async function confirmed<T>(work: (proof: Proof) => Promise<T>): Promise<T> {
    try {
      return await work({});
    } catch (failure) {
      const by = wantedBy(failure);
      if (by === null) throw failure;
      return await promptFor(by, work);
    }
  }

  return { confirmed, dialog: prompt && <ProofDialog prompt={prompt} /> };
}

const TITLE = 'Confirm it’s you';

function ProofDialog({ prompt: { by, go, cancel } }: { prompt: Prompt }) {
  if (by === 'code') {
    return (
      <CodeDialog title={TITLE} action="Confirm" work={(code) => go({ code })} onClose={cancel}>
        <p>You signed in a while ago. Enter a code to continue.</p>
      </CodeDialog>
    );
  }
  if (by === 'provider') return <ProviderDialog cancel={cancel} />;
  return <PasswordDialog go={go} cancel={cancel} />;
}

/** For an account without a password. The page is left, so the request is not repeated by itself. */
function ProviderDialog({ cancel }: Pick<Prompt, 'cancel'>) {
  const form = useForm({}, () => goToProvider('confirm', {}, location.pathname));
  return (
    <FormDialog
      title={TITLE}
      form={form}
      action="Confirm at the provider"
      busy="Leaving this page"
      onClose={cancel}
      narrow
      lead={
        <p>
          You signed in a while ago, and your account has no password. Sign in once more at the provider. You
          come back to this page: then do this again.
        </p>
      }
    >
      {null}
    </FormDialog>
  );
}

function PasswordDialog({ go, cancel }: Pick<Prompt, 'go' | 'cancel'>) {
  const form = useForm({ password: '' }, go);
  return (
    <FormDialog
      title={TITLE}
      form={form}
      action="Confirm"
      busy="Checking"
      onClose={cancel}
      narrow
      lead={<p>You signed in a while ago. Enter your password to continue.</p>}
    >
      <PasswordField {...form.field('password')} autofocus />
    </FormDialog>
  );
}
