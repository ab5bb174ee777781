import type { Container } from '../../api/types.ts';
import { containers, refreshContainers } from '../../state/container-list.ts';
import { stop } from '../../state/containers.ts';
import { engineDoes } from '../../state/engine.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { ShareDialog } from '../sharing/share-dialog.tsx';
import { ForkDialog, SnapshotDialog } from '../snapshots/copy-dialogs.tsx';
import { DeleteAgentDialog, DisconnectDialog } from './agents/agent-dialogs.tsx';
import { isAgent } from './agents/agent-row.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import type { ContainerAction } from './list/row.tsx';
import { ToolsDialog } from './role-setup-dialog.tsx';
import { SpaceDialog } from './space-dialog.tsx';

/** The container as the list has it now. */
const latest = (container: Container): Container =>
  containers.value?.find(({ db_id }) => db_id === container.db_id) ?? container;

type ActionDialogProps = {
  readonly action: ContainerAction;
  /** Opens the dialog of another action instead. */
  readonly onAction: (action: ContainerAction) => void;
  readonly onClose: () => void;
};

export function ActionDialog({ action: { what, container }, onAction, onClose }: ActionDialogProps) {
  if (what === 'edit') return <EditDialog container={container} onClose={onClose} />;
  if (what === 'share') return <ShareDialog container={container} onClose={onClose} />;
  if (what === 'snapshot') return <SnapshotDialog container={container} onClose={onClose} />;
  if (what === 'fork') return <ForkDialog container={container} onClose={onClose} />;
  if (what === 'tools')
    return (
      <ToolsDialog
        container={latest(container)}
        onChanged={() => refreshContainers(container.db_id)}
        onClose={onClose}
      />
    );
  if (what === 'space')
    return (
      <SpaceDialog
        container={latest(container)}
        onClose={onClose}
        onSettings={() => onAction({ what: 'edit', container: latest(container) })}
      />
    );
  if (isAgent(container)) {
    const AgentDialog = what === 'stop' ? DisconnectDialog : DeleteAgentDialog;
    return <AgentDialog container={container} onClose={onClose} />;
  }
  if (what === 'stop') {
    return (
      <Confirm
        title={`Stop ${container.name}?`}
        action="Stop"
        onConfirm={() => void stop(container)}
        onClose={onClose}
      >
        <p>
          Running programs end, and terminals close.{' '}
          {engineDoes('keeps_layer') ? (
            'The files are kept, and you can start it again.'
          ) : (
            <>
              The files in <code>/workspace</code> are kept; everything outside is lost. You can start it
              again.
            </>
          )}
        </p>
      </Confirm>
    );
  }
  return <DeleteDialog container={container} onClose={onClose} />;
}
