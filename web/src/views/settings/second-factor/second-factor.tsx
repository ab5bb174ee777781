import { useState } from 'preact/hooks';
import {
  confirmItIsMe,
  confirmMfa,
  disableMfa,
  type Enrolment,
  enrolMfa,
  getMfa,
  type Proof,
  renewRecoveryCodes,
} from '../../../api/identity/account.ts';
import { plural } from '../../../lib/format/format.ts';
import { toastOk } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { useSubmit } from '../../auth/use-submit.ts';
import { useConfirmation } from '../use-reauthentication.tsx';
import { CodeDialog } from './code-dialog.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

type Step =
  | { readonly kind: 'enrol'; readonly enrolment: Enrolment; readonly proof: Proof }
  | { readonly kind: 'renew' | 'disable' }
  | { readonly kind: 'codes'; readonly codes: readonly string[] };

/** The authenticator app: turning it on and off, and its recovery codes. */
export function SecondFactor() {
  const status = useLoaded(getMfa);
  const [step, setStep] = useState<Step | null>(null);
  const { confirmed, dialog } = useConfirmation();
  // The proof comes before the secret is shown, so that no code expires meanwhile.
  const begin = useSubmit(async () => {
    const proof = await confirmed(async (given) => {
      await confirmItIsMe(given);
      return given;
    });
    setStep({ kind: 'enrol', enrolment: await enrolMfa(), proof });
  }, []);
  const enabled = status.value?.enabled ?? false;
  const close = (): void => {
    setStep(null);
    void status.reload();
  };
  const failure = begin.failure ?? status.failure;
  return (
    <Section
      title="Authenticator app"
      lead={
        enabled
          ? `On. ${plural(status.value?.recovery_codes_left ?? 0, 'recovery code')} left.`
          : 'A code from your phone, in addition to your password.'
      }
      action={
        status.value === null ? null : enabled ? (
          <div class="section-actions">
            <Button onClick={() => setStep({ kind: 'renew' })}>New recovery codes</Button>
            <Button onClick={() => setStep({ kind: 'disable' })}>Turn off</Button>
          </div>
        ) : (
          <Button
            kind="primary"
            onClick={() => void begin.submit()}
            busy={begin.busy && dialog === null ? 'Preparing' : undefined}
          >
            Set up
          </Button>
        )
      }
    >
      {failure !== null && <Problem failure={failure} />}
      {dialog}
      {step !== null && <StepDialog step={step} onStep={setStep} onClose={close} />}
    </Section>
  );
}

type StepProps = {
  readonly step: Step;
  readonly onStep: (step: Step) => void;
  readonly onClose: () => void;
};

function StepDialog({ step, onStep, onClose }: StepProps) {
  const show = (codes: readonly string[]): void => onStep({ kind: 'codes', codes });
  switch (step.kind) {
    case 'codes':
      return <RecoveryCodes codes={step.codes} onClose={onClose} />;
    case 'enrol':
      return <Enrol {...step} onDone={show} onClose={onClose} />;
    case 'renew':
      return (
        <CodeDialog
          title="New recovery codes"
          action="Create new codes"
          work={async (code) => show(await renewRecoveryCodes(code))}
          onClose={onClose}
        >
          <p>Your current codes stop working.</p>
        </CodeDialog>
      );
    case 'disable':
      return (
        <CodeDialog
          title="Turn the authenticator app off?"
          action="Turn off"
          danger
          work={async (code) => {
            await disableMfa(code);
            toastOk('The authenticator app is off');
            onClose();
          }}
          onClose={onClose}
        >
          <p>Your password alone then signs you in, and your recovery codes stop working.</p>
        </CodeDialog>
      );
  }
}

type EnrolProps = {
  readonly enrolment: Enrolment;
  /** The proof that the user gave before the secret was shown. */
  readonly proof: Proof;
  readonly onDone: (codes: readonly string[]) => void;
  readonly onClose: () => void;
};

/** As an image, whose scripts and links do nothing. */
const pictureOf = (svg: string): string => `data:image/svg+xml,${encodeURIComponent(svg)}`;

function Enrol({ enrolment: { secret, qr_svg }, proof, onDone, onClose }: EnrolProps) {
  const { confirmed, dialog } = useConfirmation();
  return (
    <CodeDialog
      title="Set up the authenticator app"
      action="Turn on"
      work={async (code) => onDone(await confirmed((given) => confirmMfa(code, { ...proof, ...given })))}
      onClose={onClose}
      instead={dialog}
    >
      <p>Scan this with your authenticator app, or type the secret into it. Then enter the code it shows.</p>
      <img class="qr" src={pictureOf(qr_svg)} alt="QR code of the secret below" width={184} height={184} />
      <div class="secret">
        <code>{secret.match(/.{1,4}/g)?.join(' ')}</code>
        <CopyButton text={secret} label="Copy the secret" />
      </div>
    </CodeDialog>
  );
}
