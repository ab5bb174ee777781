import type { ComponentChildren } from 'preact';
import { toastOutcome } from '../../state/toasts.ts';
import { Confirm } from '../../ui/confirm.tsx';

type RemovalProps = {
  readonly title: string;
  readonly action: string;
  /** What to say afterwards. */
  readonly done: string;
  readonly work: () => Promise<unknown>;
  readonly onDone: () => void;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
};

/** Asks for confirmation before a removal, and reports its outcome. */
export function Removal({ title, action, done, work, onDone, onClose, children }: RemovalProps) {
  const remove = async (): Promise<void> => {
    await toastOutcome(work(), done);
    onDone();
  };
  return (
    <Confirm title={title} action={action} danger onConfirm={() => void remove()} onClose={onClose}>
      {children}
    </Confirm>
  );
}
