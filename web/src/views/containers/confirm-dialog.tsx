import type { Container } from '../../api/types.ts';
import { refreshContainers } from '../../state/container-list.ts';
import { stop } from '../../state/containers.ts';
import { engineDoes } from '../../state/engine.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { ShareDialog } from '../sharing/share-dialog.tsx';
import { ForkDialog, SnapshotDialog } from '../snapshots/copy-dialogs.tsx';
import { useContainer } from '../terminal/use-container.ts';
import { DeleteAgentDialog, DisconnectDialog } from './agents/agent-dialogs.tsx';
import { isAgent } from './agents/agent-row.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { EditDialog } from './edit-dialog.tsx';
import type { ContainerAction } from './list/row.tsx';
import { ToolsDialog } from './role-setup-dialog.tsx';
import { SpaceDialog } from './space-dialog.tsx';

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
  if (what === 'tools') return <FreshTools container={container} onClose={onClose} />;
  if (what === 'space') return <FreshSpace container={container} onAction={onAction} onClose={onClose} />;
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

type FreshProps = { readonly container: Container; readonly onClose: () => void };

/** The container as it is now; until that is known, as it was when its action was chosen. */
function useFresh(container: Container) {
  const { known, refresh } = useContainer(container.db_id);
  return { fresh: typeof known === 'object' ? known : container, refresh };
}

function FreshTools({ container, onClose }: FreshProps) {
  const { fresh, refresh } = useFresh(container);
  const onChanged = async (): Promise<void> => {
    await Promise.all([refresh(), refreshContainers(container.db_id)]);
  };
  return <ToolsDialog container={fresh} onChanged={onChanged} onClose={onClose} />;
}

function FreshSpace({ container, onAction, onClose }: FreshProps & Pick<ActionDialogProps, 'onAction'>) {
  const { fresh } = useFresh(container);
  const onSettings = (): void => onAction({ what: 'edit', container: fresh });
  return <SpaceDialog container={fresh} onClose={onClose} onSettings={onSettings} />;
}
