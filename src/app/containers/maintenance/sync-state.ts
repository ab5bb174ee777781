import type { Container, ContainerState, Observation } from '../../../domain/containers/container.ts';
import { containerEvent } from '../../../domain/events.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { syncRoleSetup } from '../role-setup/sync-role-setup.ts';

const ENDED = 'it ended on its own or with its engine: start it again';
const PAUSED = 'it was paused outside Berth: start it to resume its programs';

/** Of the service itself: nobody asked for it. */
const BY_BERTH = { userId: null, ipAddress: '', userAgent: 'berth' } as const;

/**
 * Makes a row say what was seen of its container, and announces it once. One that Berth was stopping keeps the reason,
 * and is in the audit: that was done, and did not just happen.
 */
export async function syncState(
  deps: ContainerDeps,
  row: Container,
  state: ContainerState,
  seen: Observation['kind'],
): Promise<void> {
  const isSynced = await deps.storage.inTransaction(async (tx) => {
    // The row may have got another container since it was read, by an operation that has ended already. It is locked
    // before anything is written, as the order of the events asks for.
    const now = await tx.roleSetups.findForUpdate(row.dbId);
    if (now?.runtimeId !== row.runtimeId || (await tx.operations.active(row.dbId)) !== null) return false;
    const given = row.state === 'stopping' ? row.stateReason : null;
    const reason = state === 'stopped' ? (given ?? (seen === 'paused' ? PAUSED : ENDED)) : null;
    const changed = await tx.containers.changeState(row.dbId, [row.state], { state, reason });
    if (changed === null) return false;
    deps.log.info({ dbId: row.dbId, from: row.state, to: state }, 'container settled');
    const type = state === 'running' ? 'container_started' : 'container_stopped';
    if (state === 'stopped' && given !== null) {
      await tx.audit.append({ ...BY_BERTH, action: type, details: row.dbId });
    }
    await syncRoleSetup(tx, changed, null);
    await tx.events.append(containerEvent(type, changed));
    return true;
  });
  // What is paused ends nothing by itself.
  if (isSynced && state === 'stopped') deps.terminals.closeAll(row.dbId, CLOSE.containerStopped);
}
