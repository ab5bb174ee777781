import { leaveCollaboration } from '../../api/collaborations.ts';
import type { Container } from '../../api/types.ts';
import { copyText } from '../../lib/clipboard.ts';
import { go, navigate } from '../../lib/router.ts';
import { session } from '../../session/session.ts';
import { toastFailure, toastOk, toastWarning } from '../../state/toasts.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Status } from '../containers/status.tsx';
import { hasTools, ToolsLink } from '../containers/tools-link.tsx';
import { Recording } from '../recordings/record-button.tsx';
import { Participants } from '../sharing/participants.tsx';
import { ThemeButton } from '../theme-button.tsx';
import type { TerminalController } from './controller.ts';
import type { Known } from './overlay-kind.ts';
import { changeFont } from './use-terminal.ts';

type BarProps = {
  readonly known: Known;
  readonly terminal: TerminalController | null;
  readonly onSearch: () => void;
  readonly onTools: () => void;
  readonly onShare: () => void;
  readonly onHelp: () => void;
};

async function copySelection(terminal: TerminalController): Promise<void> {
  const text = terminal.screen.terminal.getSelection();
  if (text === '') toastOk('Select some text first, then copy it');
  else if (await copyText(text)) toastOk('Selection copied');
}

/** For screens without a keyboard; with one, Ctrl+Shift+V needs no permission. */
async function paste({ screen: { terminal } }: TerminalController): Promise<void> {
  try {
    terminal.paste(await navigator.clipboard.readText());
  } catch {
    toastWarning('This browser does not let the page read the clipboard', 'Paste with Ctrl+Shift+V instead.');
  }
  terminal.focus();
}

function itemsOf(terminal: TerminalController, onHelp: () => void): readonly MenuItem[] {
  return [
    {
      label: 'Copy selection',
      icon: 'copy',
      keys: 'Ctrl Shift C',
      onSelect: () => void copySelection(terminal),
    },
    { label: 'Paste', icon: 'paste', keys: 'Ctrl Shift V', onSelect: () => void paste(terminal) },
    { label: 'Larger text', icon: 'plus', keys: 'Ctrl +', onSelect: () => changeFont('larger') },
    { label: 'Smaller text', icon: 'minus', keys: 'Ctrl −', onSelect: () => changeFont('smaller') },
    { label: 'Recordings', icon: 'record', onSelect: () => go('/recordings') },
    { label: 'Keyboard shortcuts', icon: 'keyboard', onSelect: onHelp },
  ];
}

const toolsItem = (container: Container | null, onSelect: () => void): readonly MenuItem[] =>
  container !== null && hasTools(container) ? [{ label: 'Tools…', icon: 'tools', onSelect }] : [];

/** For a participant: not to come back without the link. */
const leaveItem = (container: Container | null): readonly MenuItem[] =>
  container?.collaboration === undefined
    ? []
    : [{ label: 'Leave for good', icon: 'leave', onSelect: () => void leave(container.collaboration?.id) }];

async function leave(id: string | undefined): Promise<void> {
  if (id === undefined) return;
  await leaveCollaboration(id).then(() => navigate('/'), toastFailure);
}

type SharingProps = {
  readonly container: Container | null;
  readonly terminal: TerminalController;
  readonly onShare: () => void;
};

function Sharing({ container, terminal, onShare }: SharingProps) {
  const { value: now } = session;
  const me = now.kind === 'signed_in' ? now.user.id : '';
  const isOwner = container !== null && !container.collaboration;
  return <Participants people={terminal.people.value} me={me} onOpen={isOwner ? onShare : null} />;
}

/** Where one is, how the line does, and what can be done with the terminal. */
export function TerminalBar({ known, terminal, onSearch, onTools, onShare, onHelp }: BarProps) {
  const container = typeof known === 'object' ? known : null;
  return (
    <header class="terminal-bar">
      <a class="back" href="/" aria-label="All containers" title="All containers">
        <Icon name="back" size={18} />
      </a>
      <h1>{container?.name ?? (known === 'gone' ? 'Gone' : '')}</h1>
      {container && <Status container={container} change={undefined} />}
      {container && <ToolsLink container={container} onOpen={onTools} />}
      <span class="shell-title">
        {terminal?.title.value === container?.name ? '' : terminal?.title.value}
      </span>
      {terminal && <Sharing container={container} terminal={terminal} onShare={onShare} />}
      {terminal?.everOpen.value && <LineFacts terminal={terminal} />}
      {container && !container.collaboration && (
        <IconButton
          icon="share"
          label="Share this terminal"
          onClick={onShare}
          disabled={!terminal?.everOpen.value}
        />
      )}
      {container && terminal && <Recording containerId={container.db_id} terminal={terminal} />}
      <IconButton
        icon="search"
        label="Search (Ctrl+Shift+F)"
        onClick={onSearch}
        disabled={!terminal?.everOpen.value}
      />
      <ThemeButton />
      {terminal && (
        <Menu
          label="Terminal menu"
          icon="dots"
          items={[...toolsItem(container, onTools), ...itemsOf(terminal, onHelp), ...leaveItem(container)]}
        />
      )}
    </header>
  );
}

function LineFacts({ terminal }: { terminal: TerminalController }) {
  const size = terminal.size.value;
  const latency = terminal.latencyMs.value;
  return (
    <span class="line-facts">
      {latency !== null && <span title="Round trip to the service">{latency} ms</span>}
      {size && (
        <span title="Columns × rows">
          {size.cols}×{size.rows}
        </span>
      )}
    </span>
  );
}
