import { useEffect, useState } from 'preact/hooks';
import { setUp } from '../../session/actions.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { AuthFrame } from './frame.tsx';
import { NOBODY, PersonFields } from './person-fields.tsx';
import { NAME_INPUT } from './sign-in.tsx';
import { useAuthOptions } from './use-auth-options.ts';
import { useSubmit } from './use-submit.ts';

const codeInLink = (): string => new URLSearchParams(location.hash.slice(1)).get('code') ?? '';

/** The first administrator, from the one-time link that Berth prints. */
export function Setup() {
  const [linked] = useState(codeInLink);
  const [code, setCode] = useState(linked);
  const [person, setPerson] = useState(NOBODY);
  const options = useAuthOptions();
  const form = useSubmit(() => setUp(code.trim(), person), ['code', 'email', 'username', 'password']);
  useEffect(() => {
    // why: a one-time secret should not stay in the address bar and the history
    if (linked !== '') history.replaceState(null, '', location.pathname);
  }, [linked]);
  if (options !== null && !options.setup_required) return <AlreadyDone />;
  return (
    <AuthFrame
      title="Welcome aboard"
      lead="Create the first account of this Berth. It becomes its administrator."
    >
      <form onSubmit={(event) => void form.submit(event)}>
        {form.failure !== null && <Problem failure={form.failure} />}
        {linked === '' && (
          <TextField
            label="Set-up code"
            value={code}
            onInput={setCode}
            error={form.faults['code']}
            hint="The part after “code=” in the link that Berth printed when it started."
            input={{ name: 'code', required: true, autocomplete: 'off', ...NAME_INPUT }}
          />
        )}
        <PersonFields person={person} onChange={setPerson} faults={form.faults} />
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
      lead="The first account of this Berth exists, so the set-up link is spent."
    >
      <p>
        <a href="/sign-in">Sign in</a>
      </p>
    </AuthFrame>
  );
}
