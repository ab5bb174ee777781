import { createEnrolment } from '../../../api/containers/agents.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Problem } from '../../../ui/problem.tsx';

/** The agent asks for this word before it sends its token without TLS to another machine. */
const isInsecure = location.protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(location.hostname);

const INSTALL = [
  `curl -fsSL ${location.origin}/agent/berth-agent.tar.gz | tar -xz`,
  `node berth-agent/agent.mjs install ${isInsecure ? '--insecure ' : ''}--server ${location.origin}`,
].join(' && ');

/** How to connect a machine, with a code for it. */
export function AddAgentDialog({ onClose }: { onClose: () => void }) {
  const enrolment = useLoaded(createEnrolment);
  const { value, failure } = enrolment;
  return (
    <Dialog title="Add an agent" onClose={onClose} narrow>
      <div class="dialog-body">
        <p>
          An agent makes the shells and files of one of your own machines available here, like a container.
          The machine connects to this server; nothing listens on it. On that machine, run this as the user
          whose shells you want:
        </p>
        <Secret text={INSTALL} label="Copy the command" />
        {isInsecure && (
          <p>
            This page has no TLS. Anyone who can read the network between the machine and Berth can take over
            the agent: use it only in a network that you trust.
          </p>
        )}
        <p>
          The agent needs Linux on x64 or arm64, systemd, and Node.js 22 or newer. It asks for this code,
          which works once, for 15 minutes:
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
