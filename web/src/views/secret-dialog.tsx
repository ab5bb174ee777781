import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** `label` names the button that copies `secret`. */
export type SecretDialogProps = {
  readonly title: string;
  readonly words: string;
  readonly secret: string;
  readonly label: string;
  readonly onClose: () => void;
};

/** Shows a token or a link, which can never be shown again. */
export const SecretDialog = ({ title, words, secret, label, onClose }: SecretDialogProps) => (
  <Dialog title={title} onClose={onClose} narrow locked>
    <div class="dialog-body">
      <p>{words}</p>
      <div class="secret">
        <code class="token-secret">{secret}</code>
        <CopyButton text={secret} label={label} />
      </div>
    </div>
    <footer class="dialog-foot">
      <Button kind="primary" onClick={onClose} autofocus>
        Done
      </Button>
    </footer>
  </Dialog>
);
