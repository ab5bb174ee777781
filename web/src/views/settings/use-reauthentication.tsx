import { useState } from 'preact/hooks';
import type { Proof } from '../../api/account.ts';
import { ApiError } from '../../api/errors.ts';
import { PasswordField } from '../../ui/field.tsx';
import { useForm } from '../auth/use-submit.ts';
import { FormDialog } from '../form-dialog.tsx';
import { CodeDialog } from './code-dialog.tsx';

type By = 'password' | 'code';
type Ask = {
  readonly by: By;
  /** Throws when the proof is wrong; any other failure goes to the caller that asked for the confirmation. */
  readonly go: (proof: Proof) => Promise<void>;
  readonly cancel: () => void;
};

const OF_THE_PROOF: Readonly<Record<By, string>> = { password: 'wrong_password', code: 'wrong_code' };

/** Whether a different proof may succeed. */
const isOfTheProof = (failure: unknown, by: By): boolean =>
  failure instanceof ApiError &&
  (failure.code === OF_THE_PROOF[by] || (failure.code === 'validation_failed' && by in failure.fields));

/** The proof that the service wants; null when it refused for another reason. */
function wantedBy(failure: unknown): By | null {
  if (!(failure instanceof ApiError) || failure.code !== 'confirmation_required') return null;
  return 'code' in failure.fields ? 'code' : 'password';
}

/**
 * Runs requests for which the service wants a recent sign-in. When it refuses one, the user is asked for a password or
 * a code, and the request is repeated with it. Render `dialog`, and no other dialog while it is open.
 */
export function useConfirmation() {
  const [ask, setAsk] = useState<Ask | null>(null);

  function askFor<T>(by: By, work: (proof: Proof) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = async (proof: Proof): Promise<void> => {
        try {
          resolve(await work(proof));
        } catch (failure) {
          if (isOfTheProof(failure, by)) throw failure;
          reject(failure);
        }
        setAsk(null);
      };
      const cancel = (): void => {
        setAsk(null);
        reject(new ApiError(0, 'confirmation_cancelled', 'nothing was changed'));
      };
      setAsk({ by, go, cancel });
    });
  }

  async function confirmed<T>(work: (proof: Proof) => Promise<T>): Promise<T> {
    try {
      return await work({});
    } catch (failure) {
      const by = wantedBy(failure);
      if (by === null) throw failure;
      return await askFor(by, work);
    }
  }

  return { confirmed, dialog: ask && <ProofDialog ask={ask} /> };
}

const TITLE = 'Confirm that it is you';

function ProofDialog({ ask: { by, go, cancel } }: { ask: Ask }) {
  if (by === 'code') {
    return (
      <CodeDialog title={TITLE} action="Confirm" work={(code) => go({ code })} onClose={cancel}>
        <p>You signed in a while ago.</p>
      </CodeDialog>
    );
  }
  return <PasswordDialog go={go} cancel={cancel} />;
}

function PasswordDialog({ go, cancel }: Pick<Ask, 'go' | 'cancel'>) {
  const form = useForm({ password: '' }, go);
  return (
    <FormDialog
      title={TITLE}
      form={form}
      action="Confirm"
      busy="Checking"
      onClose={cancel}
      narrow
      lead={<p>You signed in a while ago.</p>}
    >
      <PasswordField {...form.field('password')} autofocus />
    </FormDialog>
  );
}
