import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Box } from '../../../terminal/panes/pane-geometry.ts';
import { MAIN_PANE } from '../../../terminal/panes/pane-tree.ts';
import type { TerminalAction } from '../../../terminal/panes/shortcuts.ts';
import { Problem } from '../../../ui/problem.tsx';
import type { TerminalController } from '../controller/terminal-controller.ts';
import { CopyOffer } from '../copy-offer.tsx';
import { DropHint, mayUpload, Uploads, useFileDrop } from '../file-drop.tsx';
import { canConnect, type Known } from '../overlay-state.ts';
import { PlainShell } from '../plain-shell.tsx';
import { SearchBar } from '../search-bar.tsx';
import { useInnerLink } from '../use-inner-link.ts';
import { useNotice } from '../use-notice.ts';
import { useTerminal } from '../use-terminal.ts';
import { boxStyle } from './pane-style.ts';
import type { Pane, Workspace } from './pane-workspace.ts';

/** Connects as soon as the container runs: at first, and when it runs again after a stop. */
function useConnecting(terminal: TerminalController | null, known: Known): void {
  const ready = canConnect(known);
  useEffect(() => {
    if (terminal === null || !ready) return;
    const now = terminal.connection.peek();
    const isOver = now?.kind === 'over' && (now.why === 'stopped' || now.why === 'deleted');
    if (now === null || isOver) terminal.open(false);
  }, [terminal, ready]);
}

type PaneProps = {
  readonly containerId: string;
  readonly workspace: Workspace;
  readonly pane: Pane;
  readonly box: Box;
  /** Its name among several panes; null for the only one. */
  readonly label: string | null;
  /** Whether only one pane is shown at a time. */
  readonly stacked: boolean;
  readonly known: Known;
  /** Whether an overlay has to be answered before the user can type. */
  readonly isOver: boolean;
  readonly onAction: (action: TerminalAction) => void;
  /** Its overlay. */
  readonly children: ComponentChildren;
};

/** One terminal with its search, notes and overlay. */
export function PaneView(props: PaneProps) {
  const { containerId, workspace, pane, box, label, stacked, known, onAction } = props;
  const root = useRef<HTMLElement>(null);
  const host = useRef<HTMLDivElement>(null);
  const failure = useTerminal(pane, host, {
    containerId,
    action: onAction,
    severalPanes: () => workspace.panes.peek().length > 1,
    isOver: () => pane.id === MAIN_PANE || !workspace.has(pane.id),
  });
  const terminal = pane.terminal.value;
  const isActive = workspace.active.value === pane;
  const isMarked = isActive && label !== null && !stacked;
  useConnecting(terminal, known);
  useNotice(terminal);
  const files = useFileDrop(mayUpload(known) && !props.isOver ? terminal : null, containerId);
  useInnerLink(terminal, known);
  useEnding(terminal, () => workspace.ended(pane.id));
  useLayoutEffect(() => {
    const { activeElement: at } = document;
    const isInside = at !== root.current && root.current?.contains(at);
    if (!isActive || isInside) return;
    if (props.isOver) {
      // why: keys must not go to the pane that was left; a card over all panes keeps the focus
      if (at?.closest('.pane')) (root.current?.querySelector('button') ?? root.current)?.focus();
      return;
    }
    // why: input while connecting is kept and sent; before that, keys must not reach a button
    if (terminal !== null) terminal.screen.terminal.focus();
    else root.current?.focus();
  }, [terminal, isActive, props.isOver]);
  const activate = (): void => workspace.activate(pane.id);
  return (
    <section
      ref={root}
      tabIndex={-1}
      class={classOf(pane, isMarked, stacked && !isActive)}
      style={boxStyle(box)}
      aria-label={label ?? undefined}
      onFocusIn={activate}
      onPointerDown={activate}
      {...files.handlers}
    >
      {failure !== null && <Problem failure={failure} />}
      <div class={hostClass(terminal)} ref={host} />
      {terminal && <PaneExtras pane={pane} terminal={terminal} />}
      {files.isOver && <DropHint />}
      {isActive && <Uploads containerId={containerId} />}
      {props.children}
    </section>
  );
}

const classOf = ({ isOpened }: Pane, isMarked: boolean, isBehind: boolean): string =>
  ['pane', isOpened && 'opened', isMarked && 'active', isBehind && 'behind']
    .filter((name) => name !== false)
    .join(' ');

function hostClass(terminal: TerminalController | null): string {
  if (!terminal?.ruled.value) return 'terminal-host';
  return terminal.zoom.value === 'full' ? 'terminal-host ruled panned' : 'terminal-host ruled';
}

/** Calls `onEnded` when the shell has ended, before that is painted. */
function useEnding(terminal: TerminalController | null, onEnded: () => void): void {
  const now = terminal?.connection.value ?? null;
  const hasEnded = now?.kind === 'over' && now.why === 'ended';
  useLayoutEffect(() => {
    if (hasEnded) onEnded();
  }, [hasEnded]);
}

function PaneExtras({ pane, terminal }: { pane: Pane; terminal: TerminalController }) {
  const searches = pane.searches.value;
  const searching = searches > 0;
  useEffect(() => {
    if (searching) void terminal.screen.scrollback.searching();
  }, [terminal, searching]);
  const closeSearch = (): void => {
    pane.searches.value = 0;
    terminal.screen.search.clear();
    terminal.screen.terminal.focus();
  };
  return (
    <>
      {terminal.readOnly.value && terminal.connection.value?.kind === 'open' && (
        <div class="looks-on" role="status">
          View only: your typing has no effect
        </div>
      )}
      {terminal.link.value && <div class="link-hint">{terminal.link.value}</div>}
      <PlainShell terminal={terminal} />
      <CopyOffer terminal={terminal} />
      {searching && <SearchBar terminal={terminal} searches={searches} onClose={closeSearch} />}
    </>
  );
}
