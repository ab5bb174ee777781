import type { Container } from '../../../domain/containers/container.ts';
import { containerEvent } from '../../../domain/events.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { ListedContainer } from '../../../ports/containers/container-runtime.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { syncRoleSetup } from '../role-setup/sync-role-setup.ts';
import { isSameRun } from './sync-state.ts';

/**
 * Gives a row, whose container is gone, the later one that the engine has: an older database was restored. The container
 * keeps the limits that it was made with, until the next change.
 */
export async function adoptLater(
  deps: Pick<ContainerDeps, 'storage' | 'terminals' | 'log'>,
  row: Container,
  { handle: { runtimeId }, generation, state }: ListedContainer,
): Promise<void> {
  const { dbId } = row;
  const isRunning = state === 'running';
  const isAdopted = await deps.storage.inTransaction(async (tx) => {
    // The row is locked before any write, as the order of events requires.
    const now = await tx.roleSetups.findForUpdate(dbId);
    if (now === null || !isSameRun(row, now)) return false;
    if ((await tx.operations.active(dbId)) !== null) return false;
    const changed = await tx.containers.changeState(dbId, [row.state], {
      state: isRunning ? 'running' : 'stopped',
      runtimeId,
      generation,
      started: isRunning,
    });
    if (changed === null) return false;
    await syncRoleSetup(tx, changed, null);
    await tx.events.append(containerEvent('container_updated', changed, isRunning));
    return true;
  });
  if (!isAdopted) return;
  deps.log.warn({ dbId, runtimeId, generation }, 'the engine has a later container than the database knew');
  deps.terminals.closeAll(dbId, CLOSE.containerRestarted);
}
