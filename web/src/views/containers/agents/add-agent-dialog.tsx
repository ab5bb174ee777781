import { createEnrolment } from '../../../api/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { useLoaded } from '../../../ui/use-loaded.ts';

const INSTALL = [
  `curl -fsSL ${location.origin}/agent/berth-agent.tar.gz | tar -xz`,
  `node berth-agent/agent.mjs install --server ${location.origin}`,
].join(' && ');

/** How to connect a machine, with a code for it. */
export function AddAgentDialog({ onClose }: { onClose: () => void }) {
  const enrolment = useLoaded(createEnrolment);
  const { value, failure } = enrolment;
  return (
    <Dialog title="Add an agent" onClose={onClose} narrow>
      <div class="dialog-body">
        <p>
          An agent offers the shells, commands and files of a machine of yours here, like a container. It
          connects out: nothing listens on that machine. There, as the user whose shells it offers:
        </p>
        <Secret text={INSTALL} label="Copy the command" />
        <p>
          It needs Linux with systemd and Node.js 22, and asks for this code, which works once, for 15
          minutes:
        </p>
        {failure !== null && <Problem failure={failure} />}
        {value !== null && <Secret text={value.code} label="Copy the code" />}
      </div>
      <footer class="dialog-foot">
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      </footer>
    </Dialog>
  );
}

const Secret = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <div class="secret">
    <code class="token-secret">{text}</code>
    <CopyButton text={text} label={label} />
  </div>
);
