import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from './button.tsx';

type DialogProps = {
  readonly title: string;
  readonly onClose: () => void;
  /** For Escape and a click beside it, in place of `onClose`. */
  readonly onDismiss?: (() => void) | undefined;
  readonly children: ComponentChildren;
  /** While true neither Escape nor a click beside it closes the dialog. */
  readonly locked?: boolean;
  readonly narrow?: boolean;
};

/** Whether the press is on what surrounds the open dialog. */
export function isBeside(
  { target, clientX, clientY }: MouseEvent,
  dialog: HTMLDialogElement | null,
): boolean {
  // why: a press on its own border or scrollbar has the same target
  if (dialog === null || target !== dialog) return false;
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

/** A modal dialog: keeps the focus inside, gives it back at the end, closes with Escape. */
export function Dialog(props: DialogProps) {
  const { title, onClose, onDismiss = onClose, children, locked = false, narrow = false } = props;
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  // Before the next key arrives, which belongs to the dialog.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    dialog?.showModal();
    (dialog?.querySelector<HTMLElement>('[data-autofocus]') ?? dialog)?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      tabIndex={-1}
      class={narrow ? 'dialog narrow' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!locked) onDismiss();
      }}
      onMouseDown={(event) => {
        if (isBeside(event, ref.current) && !locked) onDismiss();
      }}
    >
      <header class="dialog-head">
        <h2 id={titleId}>{title}</h2>
        <IconButton icon="close" label="Close" onClick={onClose} disabled={locked} />
      </header>
      {children}
    </dialog>
  );
}
