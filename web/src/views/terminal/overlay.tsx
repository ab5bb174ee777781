import type { ComponentChildren } from 'preact';
import type { EndReason, Trouble } from '../../../../src/client/terminal/terminal-protocol.ts';
import { type Explanation, inTwo } from '../../api/explain.ts';
import { signInPath } from '../../lib/browser/router.ts';
import { plural } from '../../lib/format/format.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { SpokenOnce } from '../../ui/countdown/countdown.tsx';
import { useCountdown } from '../../ui/countdown/use-countdown.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import type { Overlay } from './overlay-state.ts';

type OverlayProps = {
  readonly overlay: Overlay;
  readonly name: string;
  readonly starting: boolean;
  /** What went wrong with the container, in a sentence; null when nothing has. */
  readonly fault: string | null;
  /** What to do about a stop for its disk use; null for any other. */
  readonly spaceAdvice: string | null;
  /** Whose shared terminal it is; null for an own one. */
  readonly sharedBy: string | null;
  /** A machine that must connect by itself. */
  readonly isAgent: boolean;
  readonly onStart: () => void;
  readonly onRetry: () => void;
  /** Connects again; true for a new shell. */
  readonly onReopen: (fresh: boolean) => void;
  /** Whether what can be done about it takes the focus. */
  readonly takeFocus: boolean;
};

const WORDS: { readonly [W in Exclude<EndReason, 'ended'>]: string } = {
  stopped: '{name} is stopped. Its files are kept. Start it to continue.',
  deleted: 'This container is gone. It was deleted, or it belongs to another person.',
  replaced:
    'Open in another window. This terminal is now open somewhere else. Use it here to continue. Nothing in it is lost.',
  unauthorized: 'You are signed out. Your programs keep running. Sign in to see them.',
  closed: 'Closed by an administrator. Your programs keep running. You can connect again.',
  collaboration_ended:
    '{name} is no longer shared with you. The owner ended the share, it expired, or you left. To return, ask the owner for a new link.',
  refused:
    'You cannot open this terminal. Your account has no access to it. Ask an administrator, or go back and check the container.',
};

const endedWith = (exitCode: number | null): string =>
  `The shell has ended. ${exitCode ? `It exited with code ${exitCode}.` : 'Its programs have ended. A new shell starts in /workspace.'}`;

const BEING: Readonly<Record<string, string>> = { creating: 'being created', updating: 'being updated' };

/** Covers the terminal while it is not live. */
export function TerminalOverlay(props: OverlayProps) {
  const { overlay, onRetry } = props;
  switch (overlay.kind) {
    case 'none':
      return null;
    case 'connecting':
      return <Waiting text={`Connecting to ${props.name}…`} />;
    case 'preparing':
      return <Waiting text={`${props.name} is ${BEING[overlay.status] ?? overlay.status}…`} />;
    case 'lost':
      return <Lost {...overlay} onRetry={onRetry} />;
    case 'over':
      return <Over {...props} why={overlay.why} exitCode={overlay.exitCode} />;
  }
}

function Waiting({ text }: { text: string }) {
  return (
    <div class="overlay pass">
      <div class="overlay-wait late" role="status">
        <Spinner />
        <span>{text}</span>
      </div>
    </div>
  );
}

type LostProps = Extract<Overlay, { kind: 'lost' }> & { readonly onRetry: () => void };

/** The first tries come too soon for a countdown. */
const SOON_SECONDS = 3;

const LOST: { readonly [T in Exclude<Trouble, 'line'>]: string } = {
  shell: 'The shell is not responding.',
  processes:
    'This container has reached its process limit, so no shell can start. Stop some processes, or restart the container.',
  unresponsive:
    'This container cannot start new programs. If this keeps happening, stop the container and start it again.',
  busy: 'Many terminals are opening at once, and this one is waiting its turn.',
  too_many: 'Your tier allows no more open terminals. Close one you do not need, and this one opens.',
  address:
    'Too many terminals and pages are open from your network. Close one you do not need, and this one opens.',
  no_tmux: 'This container has no tmux, which a shared terminal needs. Its owner can install it.',
  rate: 'You sent too many requests in the last minute.',
  database: 'Berth cannot reach its database.',
};

function lostWords({ how, everOpen }: LostProps, seconds: number): string {
  if (how === 'offline') return 'You are offline.';
  if (how === 'no_answer') return 'Berth is not responding.';
  const words = how === 'line' ? `${everOpen ? 'Connection lost' : 'No connection'}.` : LOST[how];
  return seconds > 0 ? `${words} Retrying in ${seconds} s.` : `${words} Retrying…`;
}

/** Leaves the output visible: it is still correct. */
function Lost(props: LostProps) {
  const { how, everOpen, retryInMs, unsentCharacters, onRetry } = props;
  const seconds = useCountdown(retryInMs);
  const isSoon = (how === 'line' || how === 'shell') && seconds < SOON_SECONDS;
  const isQuiet = isSoon && everOpen && unsentCharacters === 0;
  const soon = everOpen ? 'Reconnecting…' : 'Connecting…';
  const words = (left: number): string => (isSoon ? soon : lostWords(props, left));
  const unsent = (what: string): string =>
    unsentCharacters === 0
      ? ''
      : ` ${what} will be sent when ${how === 'offline' ? 'you are' : 'it is'} back.`;
  return (
    <div class={['line-lost', isSoon ? 'late' : '', isQuiet ? 'quiet' : ''].join(' ')} role="status">
      {how === 'offline' ? <Icon name="warning" size={18} /> : <Spinner />}
      <SpokenOnce
        words={words(seconds) + unsent(`Up to ${plural(unsentCharacters, 'character')}`)}
        spoken={words(Math.ceil((retryInMs ?? 0) / 1_000)) + unsent('What you typed')}
      />
      {!isSoon && how !== 'offline' && <Button onClick={onRetry}>Try now</Button>}
    </div>
  );
}

type OverProps = OverlayProps & { readonly why: EndReason; readonly exitCode: number | null };

function wordsOf({ why, exitCode, name, fault, spaceAdvice, sharedBy, isAgent }: OverProps): Explanation {
  if (why === 'ended') return inTwo(endedWith(exitCode));
  if (why === 'stopped' && isAgent)
    return inTwo(`${name} is not connected. This terminal opens again when the machine comes back.`);
  if (why === 'stopped' && sharedBy !== null)
    return inTwo(
      `${name} is stopped. Only ${sharedBy} can start it. This terminal opens again when it runs.`,
    );
  const words = inTwo(WORDS[why].replace('{name}', name));
  if (why !== 'stopped' || fault === null) return words;
  // why: the reason of such a stop has advice of its own, in short
  if (spaceAdvice !== null)
    return { ...words, next: `${inTwo(fault).title}. Its files are kept. ${spaceAdvice}` };
  return { ...words, next: `${fault} ${words.next}` };
}

function Over(props: OverProps) {
  const { why, starting, sharedBy, isAgent, onStart, onReopen, takeFocus } = props;
  const { title, next } = wordsOf(props);
  return (
    <div class="overlay">
      <div class="overlay-card" role="alert">
        <Icon name={why === 'ended' || why === 'stopped' ? 'terminal' : 'warning'} size={24} />
        <h2>{title}</h2>
        <p>{next}</p>
        <div class="overlay-actions">
          {why === 'stopped' && sharedBy === null && !isAgent && (
            <Action
              icon="play"
              busy={starting ? 'Starting' : undefined}
              onClick={onStart}
              takeFocus={takeFocus}
            >
              Start
            </Action>
          )}
          {why === 'ended' && (
            <Action icon="terminal" onClick={() => onReopen(true)} takeFocus={takeFocus}>
              New shell
            </Action>
          )}
          {(why === 'replaced' || why === 'closed') && (
            <Action onClick={() => onReopen(false)} takeFocus={takeFocus}>
              {why === 'replaced' ? 'Use it here' : 'Connect again'}
            </Action>
          )}
          {why === 'unauthorized' && (
            <a class="button primary" href={signInPath()}>
              Sign in
            </a>
          )}
          {why === 'deleted' && (
            <a class="button plain" href="/deleted">
              Recently deleted
            </a>
          )}
          <a class="button plain" href="/">
            All containers
          </a>
        </div>
      </div>
    </div>
  );
}

type ActionProps = {
  readonly children: ComponentChildren;
  readonly onClick: () => void;
  readonly icon?: IconName;
  readonly busy?: string | undefined;
  readonly takeFocus: boolean;
};

function Action({ children, onClick, icon, busy, takeFocus }: ActionProps) {
  return (
    <Button kind="primary" {...(icon && { icon })} onClick={onClick} busy={busy} takeFocus={takeFocus}>
      {children}
    </Button>
  );
}
