import { useEffect, useRef, useState } from 'preact/hooks';
import { cancelTools, retryTools } from '../../api/containers/containers.ts';
import type { Container } from '../../api/types.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/problem.tsx';

type ToolsProps = {
  readonly container: Container;
  /** Reads the container again. */
  readonly onChanged: () => Promise<void>;
  readonly onClose: () => void;
};

const LEADS: Readonly<Record<string, string>> = {
  none: 'Nothing is being installed now.',
  installing: 'The tools are being installed. You can use the container meanwhile.',
  ready: 'The tools are installed.',
  failed: 'Some tools are missing. You can use the container without them.',
};

/** The installation of a container's tools: its state, output and actions. */
export function ToolsDialog({ container, onChanged, onClose }: ToolsProps) {
  const [busy, setBusy] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const { status, detail } = container.role_setup;
  const act = async (words: string, work: (id: string) => Promise<unknown>): Promise<void> => {
    setBusy(words);
    setFailure(null);
    await work(container.db_id).catch(setFailure);
    await onChanged();
    setBusy(null);
  };
  const runs = container.status === 'running';
  return (
    <Dialog title={`Tools of ${container.name}`} onClose={onClose}>
      <div class="dialog-body">
        {failure !== null && <Problem failure={failure} />}
        <p aria-live="polite">
          {LEADS[status]} {!runs && status !== 'installing' && 'Start the container to install them.'}
        </p>
        <Output text={detail ?? ''} />
      </div>
      <footer class="dialog-foot">
        <Button onClick={onClose} autofocus>
          Close
        </Button>
        {status === 'installing' ? (
          <Button busy={busy ?? undefined} onClick={() => void act('Cancelling', cancelTools)}>
            Cancel installation
          </Button>
        ) : (
          <Button
            kind={status === 'failed' ? 'primary' : 'plain'}
            disabled={!runs}
            busy={busy ?? undefined}
            onClick={() => void act('Starting', retryTools)}
          >
            {status === 'failed' ? 'Try again' : 'Install again'}
          </Button>
        )}
      </footer>
    </Dialog>
  );
}

/** The end of the output; stays at its end as it grows, unless the user has scrolled away from there. */
function Output({ text }: { text: string }) {
  const box = useRef<HTMLPreElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  const onScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    atEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre class="tools-output" ref={box} tabIndex={0} onScroll={onScroll}>
      {text === '' ? 'No output yet.' : text}
    </pre>
  );
}
