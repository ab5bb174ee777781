import { useEffect, useRef, useState } from 'preact/hooks';
import { session } from '../../session/session.ts';
import { isPaneAction, type TerminalAction } from '../../terminal/panes/shortcuts.ts';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { ToolsDialog } from '../containers/role-setup-dialog.tsx';
import { SpaceDialog } from '../containers/space-dialog.tsx';
import { HealthBanner } from '../health-banner.tsx';
import { AnnouncementDialog } from '../service/announcements.tsx';
import { ShareDialog } from '../sharing/share-dialog.tsx';
import { ExtraKeys } from './extra-keys.tsx';
import type { Known } from './overlay-state.ts';
import { PaneArea } from './panes/pane-area.tsx';
import { PaneSwitch } from './panes/pane-tabs.tsx';
import { Workspace } from './panes/pane-workspace.ts';
import { usePaneKeys } from './panes/use-pane-keys.ts';
import { TerminalBar } from './terminal-bar.tsx';
import { useContainer } from './use-container.ts';
import { useMemoryNotice } from './use-memory-notice.ts';
import { changeFont } from './use-terminal.ts';

const userId = (): string => {
  const now = session.peek();
  return now.kind === 'signed_in' ? now.user.id : '';
};

const isOwn = (known: Known): boolean => typeof known === 'object' && !known.collaboration;

function useWorkspace(id: string, known: Known): Workspace {
  const [workspace] = useState(() => new Workspace(id, userId()));
  const mayDivide = isOwn(known);
  useEffect(() => workspace.begin(), [workspace]);
  useEffect(() => {
    workspace.mayDivide.value = mayDivide;
  }, [workspace, mayDivide]);
  usePaneKeys(workspace);
  return workspace;
}

const actionsOf = (workspace: Workspace) => (action: TerminalAction) => {
  if (action === 'search') workspace.active.peek().searches.value += 1;
  else if (action === 'leave') document.querySelector<HTMLElement>('.terminal-bar .back')?.focus();
  else if (isPaneAction(action)) workspace.act(action);
  else changeFont(action);
};

/** The container's name, which it keeps here when it is gone. */
function useName(known: Known): string {
  const before = useRef<string | undefined>(undefined);
  if (typeof known === 'object') before.current = known.name;
  return before.current ?? (known === 'gone' ? 'Container not found' : 'Container');
}

/** A container's shells, as large as the window. */
export function TerminalPage({ id, onHelp }: { id: string; onHelp: () => void }) {
  const [dialog, setDialog] = useState<'tools' | 'space' | 'sharing' | 'announcements' | null>(null);
  const close = (): void => setDialog(null);
  const { known, refresh } = useContainer(id);
  const container = typeof known === 'object' ? known : null;
  const workspace = useWorkspace(id, known);
  useMemoryNotice(known);
  const active = workspace.active.value;
  const terminal = active.terminal.value;
  const shell = terminal?.title.value ?? '';
  const name = useName(known);
  useTitle(shell === '' || shell === name ? name : `${shell} — ${name}`);
  useEffect(() => {
    // why: the dialog returns the focus to its button, but the user wants to type next
    if (dialog !== 'sharing') workspace.active.peek().terminal.peek()?.screen.terminal.focus();
  }, [dialog === 'sharing']);
  return (
    <div class="terminal-page">
      <TerminalBar
        known={known}
        name={known === 'unknown' ? '' : name}
        workspace={workspace}
        onTools={() => setDialog('tools')}
        onSpace={() => setDialog('space')}
        onShare={() => setDialog('sharing')}
        onAnnouncements={() => setDialog('announcements')}
        onHelp={onHelp}
      />
      <HealthBanner />
      <PaneSwitch workspace={workspace} />
      <PaneArea
        containerId={id}
        workspace={workspace}
        known={known}
        refresh={refresh}
        onAction={actionsOf(workspace)}
      />
      {terminal?.everOpen.value && !terminal.readOnly.value && (
        <ExtraKeys key={active.id} terminal={terminal} />
      )}
      {dialog === 'announcements' && <AnnouncementDialog onClose={close} />}
      {container && dialog === 'sharing' && <ShareDialog container={container} onClose={close} />}
      {container && dialog === 'space' && <SpaceDialog container={container} onClose={close} />}
      {container && dialog === 'tools' && (
        <ToolsDialog container={container} onChanged={refresh} onClose={close} />
      )}
    </div>
  );
}
