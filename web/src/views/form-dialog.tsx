import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Problem } from '../ui/problem.tsx';
import type { useSubmit } from './auth/use-submit.ts';

type FormDialogProps = {
  readonly title: string;
  readonly form: Pick<ReturnType<typeof useSubmit>, 'submit' | 'busy' | 'failure'>;
  readonly action: string;
  /** What the button says while the form is sent. */
  readonly busy: string;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: ComponentChildren;
  /** Above the failure. */
  readonly lead?: ComponentChildren;
  readonly cancel?: string;
  readonly danger?: boolean;
  readonly narrow?: boolean;
  /** Stays open while it is sent. */
  readonly locked?: boolean;
  /** The service checks the fields, not the browser. */
  readonly novalidate?: boolean;
};

/** A dialog with a form, and with a button that sends it. */
export function FormDialog(props: FormDialogProps) {
  const { form, onClose, locked = false, narrow = false, novalidate = false } = props;
  const isLocked = locked && form.busy;
  const entries = useEntries(onClose);
  return (
    <Dialog
      title={props.title}
      onClose={onClose}
      onDismiss={form.busy ? onClose : entries.dismiss}
      locked={isLocked}
      narrow={narrow}
    >
      <form onSubmit={(event) => void form.submit(event)} onInput={entries.changed} novalidate={novalidate}>
        <div class="dialog-body">
          {props.lead}
          {form.failure !== null && <Problem failure={form.failure} />}
          {props.children}
        </div>
        {entries.isAsking ? (
          <Discard onKeep={entries.keep} onDiscard={onClose} />
        ) : (
          <footer class="dialog-foot">
            <Button onClick={onClose} disabled={isLocked}>
              {props.cancel ?? 'Cancel'}
            </Button>
            <Button
              kind={props.danger ? 'danger' : 'primary'}
              type="submit"
              busy={form.busy ? props.busy : undefined}
            >
              {props.action}
            </Button>
          </footer>
        )}
      </form>
    </Dialog>
  );
}

/** Escape, or a click beside the dialog, asks before it throws away more than one entry. */
function useEntries(onClose: () => void) {
  const changedFields = useRef(new Set<EventTarget | null>());
  const [isAsking, ask] = useState(false);
  return {
    isAsking,
    changed: ({ target }: Event): void => {
      changedFields.current.add(target);
    },
    keep: () => ask(false),
    dismiss: (): void => {
      if (changedFields.current.size > 1) ask(!isAsking);
      else onClose();
    },
  };
}

function Discard({ onKeep, onDiscard }: { readonly onKeep: () => void; readonly onDiscard: () => void }) {
  return (
    <footer class="dialog-foot">
      <p class="discard" role="alert">
        Discard what you entered?
      </p>
      <Button onClick={onDiscard}>Discard</Button>
      <Button kind="primary" onClick={onKeep} takeFocus>
        Keep editing
      </Button>
    </footer>
  );
}
