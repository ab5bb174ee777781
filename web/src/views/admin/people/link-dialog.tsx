import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

export type MadeLink = { readonly title: string; readonly words: string; readonly url: string };

/** The link, this once. */
export function LinkDialog({ made, onClose }: { readonly made: MadeLink; readonly onClose: () => void }) {
  return (
    <Dialog title={made.title} onClose={onClose} narrow locked>
      <div class="dialog-body">
        <p>{made.words} Copy the link now: it is not shown again.</p>
        <div class="secret">
          <code class="token-secret">{made.url}</code>
          <CopyButton text={made.url} label="Copy the link" />
        </div>
      </div>
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose} autofocus>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}
