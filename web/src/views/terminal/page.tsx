import { useEffect, useRef, useState } from 'preact/hooks';
import { start } from '../../state/containers.ts';
import { Problem } from '../../ui/problem.tsx';
import { useTitle } from '../../ui/use-title.ts';
import { ToolsDialog } from '../containers/tools-dialog.tsx';
import { HealthBanner } from '../health-banner.tsx';
import { ShareDialog } from '../sharing/share-dialog.tsx';
import type { TerminalController } from './controller.ts';
import { ExtraKeys } from './extra-keys.tsx';
import { TerminalOverlay } from './overlay.tsx';
import { canConnect, type Known, overlayOf } from './overlay-kind.ts';
import { SearchBar } from './search-bar.tsx';
import { TerminalBar } from './terminal-bar.tsx';
import { useContainer } from './use-container.ts';
import { useTerminal } from './use-terminal.ts';

const nameOf = (known: Known): string => (typeof known === 'object' ? known.name : 'the container');

/** Connects as soon as the container runs: at first, and when it runs again after a stop. */
function useConnecting(terminal: TerminalController | null, known: Known): void {
  const ready = canConnect(known);
  useEffect(() => {
    if (terminal === null || !ready) return;
    const now = terminal.connection.peek();
    if (now === null || (now.kind === 'over' && now.why === 'stopped')) terminal.open(false);
    terminal.screen.terminal.focus();
  }, [terminal, ready]);
}

/** A container's shell, as large as the window. */
export function TerminalPage({ id, onHelp }: { id: string; onHelp: () => void }) {
  const host = useRef<HTMLDivElement>(null);
  const [searching, setSearching] = useState(false);
  const [tools, setTools] = useState(false);
  const [sharing, setSharing] = useState(false);
  const { known, look } = useContainer(id);
  const { terminal, failure } = useTerminal(id, host, {
    search: () => setSearching(true),
    leave: () => document.querySelector<HTMLElement>('.terminal-bar .back')?.focus(),
  });
  useConnecting(terminal, known);
  const shell = terminal?.title.value ?? '';
  useTitle(shell === '' || shell === nameOf(known) ? nameOf(known) : `${shell} — ${nameOf(known)}`);
  useEffect(() => {
    if (searching) terminal?.screen.lookBack.searching();
  }, [terminal, searching]);
  const focus = (): void => terminal?.screen.terminal.focus();
  useEffect(() => {
    // why: the dialog gives the focus back to its button, but who has shared goes on typing
    if (!sharing) focus();
  }, [sharing]);
  const closeSearch = (): void => {
    setSearching(false);
    terminal?.screen.search.clear();
    focus();
  };
  return (
    <div class="terminal-page">
      <TerminalBar
        known={known}
        terminal={terminal}
        onSearch={() => setSearching(!searching)}
        onTools={() => setTools(true)}
        onShare={() => setSharing(true)}
        onHelp={onHelp}
      />
      <HealthBanner />
      <main class="terminal-area">
        {failure !== null && <Problem failure={failure} />}
        <div class={terminal?.ruled.value ? 'terminal-host ruled' : 'terminal-host'} ref={host} />
        {terminal?.readOnly.value && terminal.connection.value?.kind === 'open' && (
          <div class="looks-on" role="status">
            View only: what you type has no effect
          </div>
        )}
        {terminal?.link.value && <div class="link-hint">{terminal.link.value}</div>}
        {searching && terminal && <SearchBar terminal={terminal} onClose={closeSearch} />}
        <PageOverlay terminal={terminal} known={known} look={look} onFocus={focus} />
      </main>
      {terminal?.everOpen.value && !terminal.readOnly.value && <ExtraKeys terminal={terminal} />}
      {sharing && typeof known === 'object' && (
        <ShareDialog container={known} onClose={() => setSharing(false)} />
      )}
      {tools && typeof known === 'object' && (
        <ToolsDialog container={known} onChanged={look} onClose={() => setTools(false)} />
      )}
    </div>
  );
}

type PageOverlayProps = {
  readonly terminal: TerminalController | null;
  readonly known: Known;
  readonly look: () => Promise<void>;
  readonly onFocus: () => void;
};

function PageOverlay({ terminal, known, look, onFocus }: PageOverlayProps) {
  const [starting, setStarting] = useState(false);
  const overlay = overlayOf(terminal?.connection.value ?? null, terminal?.everOpen.value ?? false, known);
  const isOver = overlay.kind === 'over';
  const sharedBy = typeof known === 'object' && known.collaboration ? known.owner.username : null;
  useEffect(() => {
    // why: what is typed while the line comes up is kept and sent
    if (!isOver) onFocus();
  }, [isOver]);
  const onStart = async (): Promise<void> => {
    if (typeof known !== 'object') return;
    setStarting(true);
    const started = await start(known);
    await look();
    setStarting(false);
    // why: it may have been stopped and started between two looks, and then nothing seems to have changed
    if (started && terminal?.connection.peek()?.kind === 'over') terminal.open(false);
  };
  return (
    <TerminalOverlay
      overlay={overlay}
      name={nameOf(known)}
      starting={starting}
      sharedBy={sharedBy}
      onStart={() => void onStart()}
      onRetry={() => terminal?.nudge()}
      onReopen={(fresh) => terminal?.open(fresh && sharedBy === null)}
    />
  );
}
