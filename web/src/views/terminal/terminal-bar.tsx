import type { Container } from '../../api/types.ts';
import { reach } from '../../lib/browser/server-reachability.ts';
import { session } from '../../session/session.ts';
import { engineIsDown } from '../../state/health.ts';
import { MAIN_PANE, MAX_PANES } from '../../terminal/panes/pane-tree.ts';
import type { Zoom } from '../../terminal/screen/zoom.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { tooltip } from '../../ui/tooltip.tsx';
import { ToolsLink } from '../containers/links/role-setup-link.tsx';
import { SpaceLink } from '../containers/links/space-link.tsx';
import { Status } from '../containers/status.tsx';
import { usePaletteItems } from '../palette/page-items.ts';
import { RecordButton, RecordingMark } from '../recordings/record-button.tsx';
import { AnnouncementButton } from '../service/announcements.tsx';
import { Participants } from '../sharing/participants.tsx';
import { ThemeButton } from '../theme-button.tsx';
import type { TerminalController } from './controller/terminal-controller.ts';
import type { Known } from './overlay-state.ts';
import type { Workspace } from './panes/pane-workspace.ts';
import {
  leaveItem,
  paletteItems,
  paneItems,
  terminalItems,
  toolsItem,
  uploadItem,
} from './terminal-bar-items.ts';

type BarProps = {
  readonly known: Known;
  /** The container's, as far as it is known. */
  readonly name: string;
  readonly workspace: Workspace;
  readonly onTools: () => void;
  readonly onSpace: () => void;
  readonly onShare: () => void;
  readonly onAnnouncements: () => void;
  readonly onHelp: () => void;
};

type SharingProps = {
  readonly container: Container | null;
  readonly main: TerminalController;
  readonly onShare: () => void;
};

/** The participants in the main terminal, which is the one that is shared. */
function Sharing({ container, main, onShare }: SharingProps) {
  const { value: now } = session;
  const me = now.kind === 'signed_in' ? now.user.id : '';
  const isOwner = container !== null && !container.collaboration;
  return <Participants people={main.people.value} me={me} onOpen={isOwner ? onShare : null} />;
}

/** A line that is opened for the first time, or has ended, says nothing about the container. */
const isLineSilent = ({ everOpen, connection, health }: TerminalController): boolean =>
  everOpen.value && connection.value?.kind !== 'over' && !health.value.answers;

/** The container, its state and latency, and actions on the active terminal and the panes. */
export function TerminalBar(bar: BarProps) {
  const { known, name, workspace, onTools, onSpace, onShare, onAnnouncements } = bar;
  usePaletteItems(paletteItems(bar));
  const container = typeof known === 'object' ? known : null;
  const active = workspace.active.value;
  const [terminal, main] = [active.terminal.value, workspace.pane(MAIN_PANE).terminal.value];
  const isSilent = terminal !== null && isLineSilent(terminal);
  const stale = reach.value !== 'fine' || isSilent;
  return (
    <header class="terminal-bar">
      <a class="back" href="/" aria-label="All containers" {...tooltip('All containers')}>
        <Icon name="back" size={18} />
      </a>
      <h1>{name}</h1>
      {container && <Status container={container} change={undefined} stale={stale || engineIsDown()} />}
      {container && <ToolsLink container={container} onOpen={onTools} />}
      {container && <SpaceLink container={container} onOpen={onSpace} />}
      {terminal && <RecordingMark terminal={terminal} />}
      <span class="shell-title">
        {terminal?.title.value === container?.name ? '' : terminal?.title.value}
      </span>
      <AnnouncementButton onOpen={onAnnouncements} />
      {main && <Sharing container={container} main={main} onShare={onShare} />}
      {terminal?.everOpen.value && <LineFacts terminal={terminal} stale={stale} />}
      {terminal && <ZoomSwitch terminal={terminal} />}
      <PaneActions container={container} workspace={workspace} onShare={onShare} />
      <ThemeButton />
      {main ? (
        <TerminalMenu {...bar} terminal={terminal} />
      ) : (
        <IconButton icon="dots" label="Terminal menu" onClick={() => {}} disabled />
      )}
    </header>
  );
}

type PaneActionsProps = Pick<BarProps, 'workspace' | 'onShare'> & { readonly container: Container | null };

/** Shares, records, divides and searches the active pane. */
function PaneActions({ container, workspace, onShare }: PaneActionsProps) {
  const active = workspace.active.value;
  const [terminal, main] = [active.terminal.value, workspace.pane(MAIN_PANE).terminal.value];
  const { mayDivide } = workspace;
  return (
    <>
      {container && mayDivide.value && (
        <IconButton
          icon="share"
          label={workspace.panes.value.length > 1 ? 'Share the main pane' : 'Share this terminal'}
          onClick={onShare}
          disabled={!main?.everOpen.value}
        />
      )}
      {container && (
        <RecordButton
          key={active.id}
          containerId={container.db_id}
          connectionId={active.id}
          terminal={terminal}
          isOwnContainer={mayDivide.value}
        />
      )}
      {container && mayDivide.value && <SplitButtons workspace={workspace} />}
      <IconButton
        icon="search"
        label="Search"
        keys="Ctrl Shift F"
        onClick={() => {
          active.searches.value = active.searches.peek() === 0 ? 1 : 0;
        }}
        disabled={!terminal?.everOpen.value}
      />
    </>
  );
}

type MenuProps = Pick<BarProps, 'known' | 'workspace' | 'onTools' | 'onHelp'> & {
  readonly terminal: TerminalController | null;
};

function TerminalMenu({ known, workspace, terminal, onTools, onHelp }: MenuProps) {
  const container = typeof known === 'object' ? known : null;
  return (
    <Menu
      label="Terminal menu"
      icon="dots"
      items={[
        ...toolsItem(container, onTools),
        ...paneItems(workspace),
        ...(terminal ? uploadItem(known, terminal) : []),
        ...(terminal ? terminalItems(terminal, onHelp) : []),
        ...leaveItem(container),
      ]}
    />
  );
}

const ZOOMS: readonly (readonly [zoom: Zoom, face: string, title: string])[] = [
  ['fit', 'Fit', 'Show all of the screen'],
  ['full', '100 %', 'Show it at your text size'],
];

/** For a shared screen that is larger than this window. */
function ZoomSwitch({ terminal }: { terminal: TerminalController }) {
  const now = terminal.zoom.value;
  if (now === null) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need fields
    <span class="zoom-switch" role="group" aria-label="Size of the shared screen">
      {ZOOMS.map(([zoom, face, title]) => (
        <button
          key={zoom}
          type="button"
          aria-description={title}
          {...tooltip(title)}
          aria-pressed={zoom === now}
          // why: taking the focus would close the keyboard
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => terminal.screen.chooseZoom(zoom)}
        >
          {face}
        </button>
      ))}
    </span>
  );
}

function SplitButtons({ workspace }: { workspace: Workspace }) {
  const isFull = workspace.panes.value.length >= MAX_PANES;
  return (
    <>
      <IconButton
        icon="split_right"
        label="Split right"
        keys="Ctrl Shift E"
        onClick={() => workspace.act('split_right')}
        disabled={isFull}
      />
      <IconButton
        icon="split_below"
        label="Split below"
        keys="Ctrl Shift O"
        onClick={() => workspace.act('split_below')}
        disabled={isFull}
      />
    </>
  );
}

function LineFacts({ terminal, stale }: { terminal: TerminalController; stale: boolean }) {
  // What was measured says nothing of a terminal that has ended.
  if (terminal.connection.value?.kind === 'over') return null;
  const size = terminal.size.value;
  const latency = terminal.latencyMs.value;
  return (
    <span class="line-facts">
      {latency !== null && (
        <span
          class={stale ? 'stale' : ''}
          title={stale ? 'Latency unknown' : 'Round-trip time to the server'}
        >
          {stale ? '– ms' : `${latency} ms`}
        </span>
      )}
      {size && (
        <span title="Columns × rows">
          {size.cols}×{size.rows}
        </span>
      )}
    </span>
  );
}
