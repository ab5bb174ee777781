import { useLayoutEffect, useState } from 'preact/hooks';
import { BerthError } from '../../api/errors.ts';
import { checkSetUpCode, type Person, setUp } from '../../session/actions.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './auth-frame.tsx';
import { NOBODY, PersonFields } from './person-fields.tsx';
import { NAME_INPUT } from './sign-in.tsx';
import { useFormFocus } from './use-form-focus.ts';
import { useForm } from './use-submit.ts';
import { WithAuthOptions } from './with-auth-options.tsx';

const codeInLink = (): string => new URLSearchParams(location.hash.slice(1)).get('code') ?? '';

/** The code in what was typed: people paste the whole link. */
const codeIn = (typed: string): string => /[#&]code=([^&\s]+)/.exec(typed)?.[1] ?? typed.trim();

const isRejection = (failure: unknown): boolean =>
  failure instanceof BerthError && failure.code === 'setup_code_rejected';

/** The code from the link or from a field, which is there when the link brought none that is good. */
function useSetUpCode() {
  const [linked] = useState(codeInLink);
  const [code, setCode] = useState(linked);
  const [rejected, setRejected] = useState<string | null>(null);
  useLayoutEffect(() => {
    if (linked === '') return;
    // why: a one-time secret should not stay in the address bar and the history
    history.replaceState(null, '', location.pathname);
    // why: a code that is no longer valid is reported before the form is filled in
    checkSetUpCode(linked).catch((failure) => isRejection(failure) && setRejected(linked));
  }, [linked]);
  return {
    code,
    setCode,
    reject: () => setRejected(code),
    isRejected: rejected === code,
    isAsked: linked === '' || rejected !== null,
  };
}

/** The first administrator, from the one-time link that Berth prints. */
export function Setup() {
  // why: the code leaves the address bar before anything is waited for
  const code = useSetUpCode();
  return (
    <WithAuthOptions>
      {(options) => (options !== null && !options.setup_required ? <AlreadyDone /> : <SetupForm {...code} />)}
    </WithAuthOptions>
  );
}

function SetupForm({ code, setCode, reject, isRejected, isAsked }: ReturnType<typeof useSetUpCode>) {
  const send = async (person: Person): Promise<void> => {
    try {
      await setUp(codeIn(code), person);
    } catch (failure) {
      if (isRejection(failure)) reject();
      throw failure;
    }
  };
  const form = useForm(NOBODY, send, ['code']);
  const self = useFormFocus(form.reason ?? (isRejected ? 'the link' : null));
  return (
    <AuthFrame
      title="Welcome aboard"
      lead="Create the first account on this server. It becomes the administrator."
    >
      <form ref={self} onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && !isRejection(form.failure) && <Problem failure={form.failure} />}
        {isAsked && (
          <TextField
            label="Set-up code"
            value={code}
            onInput={setCode}
            error={
              isRejected
                ? 'This code is no longer valid. Paste the link that Berth printed when it last started.'
                : form.faults['code']
            }
            hint="The set-up link that Berth printed when it started, or the part after “code=” in it."
            input={{ name: 'code', required: true, autocomplete: 'off', ...NAME_INPUT }}
          />
        )}
        <PersonFields field={form.field} />
        <Button kind="primary" type="submit" busy={form.busy ? 'Setting up' : undefined}>
          Create administrator
        </Button>
      </form>
    </AuthFrame>
  );
}

function AlreadyDone() {
  return (
    <AuthFrame
      title="Already set up"
      lead="This server already has its first account, so the set-up link no longer works."
    >
      <div class="auth-more">
        <p>
          <a href="/sign-in">Sign in</a>
        </p>
      </div>
    </AuthFrame>
  );
}
