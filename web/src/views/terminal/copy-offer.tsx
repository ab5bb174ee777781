import { copyText } from '../../lib/browser/clipboard.ts';
import { toastWarning } from '../../state/toasts.ts';
import { shownText, sizeText } from '../../terminal/program-copy.ts';
import { Button } from '../../ui/button.tsx';
import type { TerminalController } from './controller/terminal-controller.ts';

/** A program wants to copy this text: people see it and decide. */
export function CopyOffer({ terminal }: { terminal: TerminalController }) {
  const text = terminal.copyOffer.value;
  if (text === null) return null;
  const close = (): void => {
    terminal.copyOffer.value = null;
    terminal.screen.terminal.focus();
  };
  const copy = async (): Promise<void> => {
    if (await copyText(text)) close();
    else toastWarning('This browser did not copy the text', 'Select it in the terminal and copy it by hand.');
  };
  return (
    <div class="copy-offer" role="status">
      <p>A program wants to copy this text</p>
      <pre>{shownText(text)}</pre>
      <p class="soft">{sizeText(text)}</p>
      <div class="copy-offer-actions">
        <Button kind="primary" icon="copy" onClick={() => void copy()}>
          Copy
        </Button>
        <Button kind="quiet" onClick={close}>
          Dismiss
        </Button>
      </div>
    </div>
  );
}
