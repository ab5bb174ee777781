import type { ComponentChildren } from 'preact';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

type ConfirmProps = {
  readonly title: string;
  /** What will happen, and what will not. */
  readonly children: ComponentChildren;
  readonly action: string;
  readonly danger?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
};

export function Confirm({ title, children, action, danger = false, onConfirm, onClose }: ConfirmProps) {
  const confirm = (): void => {
    onClose();
    onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose} narrow>
      <div class="dialog-body">{children}</div>
      <footer class="dialog-foot">
        <Button onClick={onClose} autofocus={danger}>
          Cancel
        </Button>
        <Button kind={danger ? 'danger' : 'primary'} onClick={confirm} autofocus={!danger}>
          {action}
        </Button>
      </footer>
    </Dialog>
  );
}
