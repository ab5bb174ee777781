import { leaveCollaboration } from '../../api/terminals/collaborations.ts';
import type { Container } from '../../api/types.ts';
import { copyText } from '../../lib/browser/clipboard.ts';
import { go, navigate } from '../../lib/browser/router.ts';
import { shownKeys } from '../../lib/browser/shortcut-keys.ts';
import { toastFailure, toastOk, toastWarning } from '../../state/toasts.ts';
import { MAIN_PANE, MAX_PANES } from '../../terminal/panes/pane-tree.ts';
import { item, type MenuItem } from '../../ui/menu.tsx';
import { hasTools } from '../containers/links/role-setup-link.tsx';
import { recordItem } from '../recordings/record-button.tsx';
import type { TerminalController } from './controller/terminal-controller.ts';
import { chooseFiles, mayUpload, uploadInto } from './file-drop.tsx';
import type { Known } from './overlay-state.ts';
import type { Workspace } from './panes/pane-workspace.ts';
import { changeFont } from './use-terminal.ts';

async function copySelection(terminal: TerminalController): Promise<void> {
  const text = terminal.screen.terminal.getSelection();
  if (text === '') toastOk('Select some text first, then copy it');
  else if (await copyText(text)) toastOk('Selection copied');
}

/** For screens without a keyboard; with one, Ctrl+Shift+V needs no permission. */
export async function paste({ screen }: TerminalController): Promise<void> {
  try {
    screen.paste(await navigator.clipboard.readText());
  } catch {
    toastWarning(
      'This browser does not let the page read the clipboard',
      `Paste with ${shownKeys('Ctrl Shift V').join('+')} instead.`,
    );
  }
}

const textItems = (terminal: TerminalController): readonly MenuItem[] => [
  item('copy', 'Copy selection', () => void copySelection(terminal), { keys: 'Ctrl Shift C' }),
  item('paste', 'Paste', () => void paste(terminal).then(() => terminal.screen.terminal.focus()), {
    keys: 'Ctrl Shift V',
  }),
  item('plus', 'Larger text', () => changeFont('larger'), { keys: 'Ctrl +' }),
  item('minus', 'Smaller text', () => changeFont('smaller'), { keys: 'Ctrl −' }),
];

/** The menu's actions on a terminal. */
export const terminalItems = (terminal: TerminalController, onHelp: () => void): readonly MenuItem[] => [
  ...textItems(terminal),
  item('recordings', 'Recordings', () => go('/recordings')),
  item('keyboard', 'Keyboard shortcuts', onHelp),
];

/** For machines where nothing can be dropped, such as phones. */
export const uploadItem = (known: Known, terminal: TerminalController): readonly MenuItem[] =>
  typeof known === 'object' && mayUpload(known)
    ? [
        item('upload', 'Upload files…', () =>
          chooseFiles((files) => void uploadInto(terminal, known.db_id, files)),
        ),
      ]
    : [];

/** The menu's actions on panes, where there may be several. */
export function paneItems(workspace: Workspace): readonly MenuItem[] {
  if (!workspace.mayDivide.value) return [];
  const count = workspace.panes.value.length;
  const isFull = count >= MAX_PANES;
  const act = (action: Parameters<Workspace['act']>[0]) => () => workspace.act(action);
  const isMain = workspace.active.value.id === MAIN_PANE;
  return [
    item('split_right', 'Split right', act('split_right'), { keys: 'Ctrl Shift E', disabled: isFull }),
    item('split_below', 'Split below', act('split_below'), { keys: 'Ctrl Shift O', disabled: isFull }),
    ...(count > 1
      ? [item('close', 'Close pane', act('close_pane'), { keys: 'Ctrl Shift X', disabled: isMain })]
      : []),
  ];
}

export const toolsItem = (container: Container | null, onSelect: () => void): readonly MenuItem[] =>
  container !== null && hasTools(container) ? [item('tools', 'Tools…', onSelect)] : [];

/** For a participant, who needs the link to return. */
export function leaveItem(container: Container | null): readonly MenuItem[] {
  const id = container?.collaboration?.id;
  return id === undefined ? [] : [item('leave', 'Leave shared terminal', () => void leave(id))];
}

async function leave(id: string): Promise<void> {
  await leaveCollaboration(id).then(() => navigate('/'), toastFailure);
}

export type TerminalPageActions = {
  readonly known: Known;
  readonly workspace: Workspace;
  readonly onTools: () => void;
  readonly onSpace: () => void;
  readonly onShare: () => void;
};

/** All that can be done on the page of a terminal, for the palette. */
export function paletteItems({ known, workspace, ...on }: TerminalPageActions): readonly MenuItem[] {
  const container = typeof known === 'object' ? known : null;
  const { active, mayDivide } = workspace;
  const { id, terminal, searches } = active.value;
  const now = terminal.value;
  if (container === null || now === null) return [];
  const record = recordItem({
    containerId: container.db_id,
    connectionId: id,
    terminal: now,
    isOwnContainer: mayDivide.value,
  });
  const search = (): void => {
    searches.value += 1;
  };
  return [
    ...paneItems(workspace),
    item('search', 'Search the output', search, { keys: 'Ctrl Shift F', disabled: !now.everOpen.value }),
    ...(record === null ? [] : [record]),
    ...(mayDivide.value
      ? [item('share', 'Share this terminal', on.onShare), item('space', 'Disk use…', on.onSpace)]
      : []),
    ...uploadItem(known, now),
    ...textItems(now),
    item('terminal', 'Default text size', () => changeFont('usual_size'), { keys: 'Ctrl 0' }),
    ...toolsItem(container, on.onTools),
    ...leaveItem(container),
  ];
}
