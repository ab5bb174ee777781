import { leaveCollaboration } from '../../api/collaborations.ts';
import type { Container } from '../../api/types.ts';
import { copyText } from '../../lib/browser/clipboard.ts';
import { go, navigate } from '../../lib/browser/router.ts';
import { toastFailure, toastOk, toastWarning } from '../../state/toasts.ts';
import { MAIN_PANE, MAX_PANES } from '../../terminal/panes/pane-tree.ts';
import type { MenuItem } from '../../ui/menu.tsx';
import { hasTools } from '../containers/role-setup-link.tsx';
import type { Workspace } from './panes/pane-workspace.ts';
import type { TerminalController } from './terminal-controller.ts';
import { changeFont } from './use-terminal.ts';

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

/** The menu's actions on a terminal. */
export function terminalItems(terminal: TerminalController, onHelp: () => void): readonly MenuItem[] {
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

/** The menu's actions on panes, where there may be several. */
export function paneItems(workspace: Workspace): readonly MenuItem[] {
  if (!workspace.mayDivide.value) return [];
  const count = workspace.panes.value.length;
  const isFull = count >= MAX_PANES;
  const act = (action: Parameters<Workspace['act']>[0]) => () => workspace.act(action);
  return [
    {
      label: 'Split right',
      icon: 'split_right',
      keys: 'Ctrl Shift E',
      onSelect: act('split_right'),
      disabled: isFull,
    },
    {
      label: 'Split below',
      icon: 'split_below',
      keys: 'Ctrl Shift O',
      onSelect: act('split_below'),
      disabled: isFull,
    },
    ...(count > 1
      ? [
          {
            label: 'Close pane',
            icon: 'close',
            keys: 'Ctrl Shift X',
            onSelect: act('close_pane'),
            disabled: workspace.active.value.id === MAIN_PANE,
          } as const,
        ]
      : []),
  ];
}

export const toolsItem = (container: Container | null, onSelect: () => void): readonly MenuItem[] =>
  container !== null && hasTools(container) ? [{ label: 'Tools…', icon: 'tools', onSelect }] : [];

/** For a participant, who needs the link to return. */
export const leaveItem = (container: Container | null): readonly MenuItem[] =>
  container?.collaboration === undefined
    ? []
    : [
        {
          label: 'Leave shared terminal',
          icon: 'leave',
          onSelect: () => void leave(container.collaboration?.id),
        },
      ];

async function leave(id: string | undefined): Promise<void> {
  if (id === undefined) return;
  await leaveCollaboration(id).then(() => navigate('/'), toastFailure);
}
