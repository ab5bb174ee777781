import type { ComponentChildren } from 'preact';
import type { Proof } from '../../../api/identity/account.ts';
import { useSubmit } from '../../auth/use-submit.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { useConfirmation } from '../../settings/use-reauthentication.tsx';

type ConfirmedDialogProps<T> = {
  readonly title: string;
  readonly action: string;
  /** What the button says while the change is made. */
  readonly busy: string;
  readonly danger?: boolean;
  readonly work: (proof: Proof) => Promise<T>;
  readonly onDone: (answer: T) => void;
  readonly onClose: () => void;
  /** The fields that the children show, with their faults. */
  readonly fields?: readonly string[];
  readonly children: (faults: Readonly<Record<string, string>>) => ComponentChildren;
};

/** A question before a change, which asks for the password as well where the sign-in is not recent. */
export function ConfirmedDialog<T>(props: ConfirmedDialogProps<T>) {
  const { confirmed, dialog } = useConfirmation();
  const form = useSubmit(async () => {
    const answer = await confirmed(props.work);
    props.onClose();
    props.onDone(answer);
  }, props.fields ?? []);
  if (dialog !== null) return dialog;
  return (
    <FormDialog
      title={props.title}
      form={form}
      action={props.action}
      busy={props.busy}
      danger={props.danger ?? false}
      onClose={props.onClose}
      narrow
      novalidate
    >
      {props.children(form.faults)}
    </FormDialog>
  );
}
