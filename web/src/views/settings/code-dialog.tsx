import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Problem } from '../../ui/problem.tsx';
import { useSubmit } from '../auth/use-submit.ts';

type CodeDialogProps = {
  readonly title: string;
  readonly action: string;
  /** Whether it takes something away. */
  readonly danger?: boolean;
  readonly work: (code: string) => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Another dialog that takes its place for now; what was typed here is kept. */
  readonly instead?: ComponentChildren;
};

const CODE_INPUT = {
  name: 'code',
  autocomplete: 'one-time-code',
  autocapitalize: 'none',
  spellcheck: false,
  required: true,
  maxLength: 64,
  'data-autofocus': true,
} as const;

/** Does something that only who holds the second factor may do. */
export function CodeDialog(props: CodeDialogProps) {
  const { title, action, danger = false, work, onClose, children, instead } = props;
  const [code, setCode] = useState('');
  const form = useSubmit(() => work(code.trim()), ['code']);
  if (instead) return <>{instead}</>;
  return (
    <Dialog title={title} onClose={onClose} narrow>
      <form onSubmit={(event) => void form.submit(event)}>
        <div class="dialog-body">
          {children}
          {form.failure !== null && <Problem failure={form.failure} />}
          <TextField
            label="Code"
            value={code}
            onInput={setCode}
            error={form.faults['code']}
            hint="Six digits from your authenticator app."
            input={CODE_INPUT}
          />
        </div>
        <footer class="dialog-foot">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={danger ? 'danger' : 'primary'}
            type="submit"
            busy={form.busy ? 'Checking' : undefined}
          >
            {action}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
