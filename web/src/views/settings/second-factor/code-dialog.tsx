import type { ComponentChildren } from 'preact';
import { CodeField } from '../../auth/code-field.tsx';
import { useForm } from '../../auth/use-submit.ts';
import { FormDialog } from '../../form-dialog.tsx';

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

/** Asks for a code of the second factor before a change. */
export function CodeDialog(props: CodeDialogProps) {
  const { title, action, danger = false, work, onClose, children, instead } = props;
  const form = useForm({ code: '' }, ({ code }) => work(code.trim()));
  if (instead) return <>{instead}</>;
  return (
    <FormDialog
      title={title}
      form={form}
      action={action}
      busy="Checking"
      onClose={onClose}
      danger={danger}
      narrow
      lead={children}
    >
      <CodeField {...form.field('code')} hint="Six digits from your authenticator app." autofocus />
    </FormDialog>
  );
}
