import { copyText } from '../../../lib/browser/clipboard.ts';
import { saveFile } from '../../../lib/browser/save-file.ts';
import { toastOk } from '../../../state/toasts.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';

const download = (text: string): void =>
  saveFile(new Blob([text], { type: 'text/plain' }), `berth-recovery-codes-${location.hostname}.txt`);

/** Shown once: only their digests are kept. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const text = `${codes.join('\n')}\n`;
  const copy = async (): Promise<void> => {
    if (await copyText(text)) toastOk('Recovery codes copied');
  };
  return (
    <Dialog title="Save your recovery codes" onClose={onClose} locked narrow>
      <div class="dialog-body">
        <p>
          Each code signs you in once if you lose your phone. They are shown only now. Store them in a safe
          place.
        </p>
        <ol class="codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
        <div class="section-actions">
          <Button icon="copy" onClick={() => void copy()}>
            Copy
          </Button>
          <Button icon="download" onClick={() => download(text)}>
            Download
          </Button>
        </div>
      </div>
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          I have saved them
        </Button>
      </footer>
    </Dialog>
  );
}
