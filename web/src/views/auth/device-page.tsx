import { useEffect, useRef, useState } from 'preact/hooks';
import { approveDevice, denyDevice, findDevice } from '../../api/identity/device.ts';
import type { Device } from '../../api/types.ts';
import { now } from '../../lib/clock.ts';
import { ago } from '../../lib/format/format.ts';
import { session } from '../../session/session.ts';
import { holdDeviceCode, takeDeviceCode } from '../../state/device-code.ts';
import { Button } from '../../ui/button.tsx';
import { TextField, VERBATIM } from '../../ui/fields/field.tsx';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Page } from '../../ui/page.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useConfirmation } from '../settings/use-reauthentication.tsx';
import { useFormFocus } from './use-form-focus.ts';
import { useForm, useSubmit } from './use-submit.ts';

type Step =
  | { readonly kind: 'code' }
  | { readonly kind: 'decide'; readonly code: string; readonly device: Device }
  | { readonly kind: 'approved' | 'denied' };

/** Signs a program in that shows a code, such as the command `berth`. */
export function DevicePage() {
  useTitle('Sign in a program');
  const linked = useRef<string | null>(null);
  linked.current ??= takeDeviceCode();
  const [step, setStep] = useState<Step>({ kind: 'code' });
  return (
    <Page title="Sign in a program">
      <div class="device">
        {step.kind === 'code' && <CodeForm linked={linked.current} onStep={setStep} />}
        {step.kind === 'decide' && <Decision {...step} onStep={setStep} />}
        {step.kind === 'approved' && (
          <p role="status">The program is signed in. You can close this page and return to your terminal.</p>
        )}
        {step.kind === 'denied' && <p role="status">The program was refused. Nothing was signed in.</p>}
      </div>
    </Page>
  );
}

type Go = { readonly onStep: (step: Step) => void };

function CodeForm({ linked, onStep }: Go & { readonly linked: string }) {
  const form = useForm({ user_code: linked }, async ({ user_code }) => {
    const code = user_code.trim();
    onStep({ kind: 'decide', code, device: await findDevice(code) });
  });
  const self = useFormFocus(form.reason);
  useEffect(() => {
    if (linked !== '') void form.submit();
  }, []);
  return (
    <form ref={self} onSubmit={(event) => void form.submit(event)}>
      {form.failure !== null && <Problem failure={form.failure} />}
      <TextField
        label="Code"
        hint="The eight letters that the program shows."
        {...form.field('user_code')}
        input={{ name: 'user_code', required: true, ...VERBATIM, autocapitalize: 'characters' }}
      />
      <Button kind="primary" type="submit" busy={form.busy ? 'Checking' : undefined}>
        Continue
      </Button>
    </form>
  );
}

function Decision({ code, device, onStep }: Go & { readonly code: string; readonly device: Device }) {
  const { confirmed, dialog } = useConfirmation();
  // why: a confirmation at the OpenID provider leaves this page
  useEffect(() => holdDeviceCode(code), [code]);
  const approving = useSubmit(async () => {
    await confirmed((proof) => approveDevice(code, proof));
    onStep({ kind: 'approved' });
  }, []);
  const denying = useSubmit(async () => {
    await denyDevice(code);
    onStep({ kind: 'denied' });
  }, []);
  const failure = approving.failure ?? denying.failure;
  return (
    <>
      <p>
        It will act as {session.value.kind === 'signed_in' ? session.value.user.username : 'you'}, with all
        your rights, until you end its session.
      </p>
      <dl class="device-facts">
        <dt>Code</dt>
        <dd class="device-code">{code.toUpperCase()}</dd>
        <dt>Machine</dt>
        <dd>{device.machine}</dd>
        <dt>Address</dt>
        <dd>{device.ip_address}</dd>
        <dt>Program</dt>
        <dd>{device.user_agent}</dd>
        <dt>Started</dt>
        <dd>{ago(device.started_at, now.value)}</dd>
      </dl>
      <p class="note">
        Continue only if you started this yourself and your terminal shows this code. Never enter a code that
        somebody sent you.
      </p>
      {failure !== null && <Problem failure={failure} />}
      <div class="device-actions">
        <Button
          kind="primary"
          onClick={() => void approving.submit()}
          busy={approving.busy && dialog === null ? 'Signing in' : undefined}
        >
          Sign in the program
        </Button>
        <Button onClick={() => void denying.submit()} busy={denying.busy ? 'Refusing' : undefined}>
          Refuse
        </Button>
      </div>
      {dialog}
    </>
  );
}
