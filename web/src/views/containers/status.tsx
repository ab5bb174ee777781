import type { Container } from '../../api/types.ts';
import type { Change } from '../../lib/outcome.ts';
import { useElapsed } from '../../ui/hooks/use-elapsed.ts';

type Tone = 'good' | 'off' | 'busy' | 'bad';

const TONES: Readonly<Record<Container['status'], Tone>> = {
  running: 'good',
  stopped: 'off',
  deleted: 'off',
  failed: 'bad',
  creating: 'busy',
  starting: 'busy',
  stopping: 'busy',
  updating: 'busy',
};

/** An agent is a machine that runs on when it is away. */
const AGENT_WORDS: Readonly<Partial<Record<Container['status'], string>>> = {
  running: 'connected',
  stopped: 'disconnected',
};

type StatusProps = {
  readonly container: Container;
  readonly change: Change | undefined;
  /** Whether it may have changed meanwhile, as while the service cannot be reached. */
  readonly stale: boolean;
};

/** The state of a container in a word, with the seconds it has been changing. */
export function Status({ container, change, stale }: StatusProps) {
  const word = container.agent === undefined ? undefined : AGENT_WORDS[container.status];
  const shown = change ?? word ?? container.status;
  const tone = change === undefined ? (TONES[container.status] ?? 'off') : 'busy';
  const seconds = useElapsed(tone === 'busy');
  return (
    <span class={`status ${tone} ${stale ? 'stale' : ''}`} title={stale ? 'Last known status' : undefined}>
      <span class="dot" aria-hidden="true" />
      <span class="status-word">{shown}</span>
      {seconds > 0 && <span class="seconds"> {seconds} s</span>}
    </span>
  );
}
