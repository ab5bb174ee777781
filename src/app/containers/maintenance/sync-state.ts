import type { Container, ContainerState, Observation } from '../../../domain/containers/container.ts';
import { containerEvent, progressEvent } from '../../../domain/events.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import { BY_BERTH } from '../../by-berth.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { syncRoleSetup } from '../role-setup/sync-role-setup.ts';

const ENDED = 'it ended on its own or with its engine: start it again';
const PAUSED = 'it was paused outside Berth: start it to resume its programs';

/**
 * Sets a row, read before the observation, to the observed state and announces it once. A container that Berth was
 * stopping keeps its reason and is audited.
 */
export async function syncState(
  deps: Pick<ContainerDeps, 'storage' | 'terminals' | 'log'>,
  row: Container,
  state: ContainerState,
  seen: Observation['kind'],
): Promise<void> {
  const isSynced = await deps.storage.inTransaction(async (tx) => {
    // The row is locked before any write, as the order of events requires.
    const now = await tx.roleSetups.findForUpdate(row.dbId);
    if (now === null || !isSameRun(row, now)) return false;
    if ((await tx.operations.active(row.dbId)) !== null) return false;
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
  // a paused container ends nothing
  if (isSynced && state === 'stopped') deps.terminals.closeAll(row.dbId, CLOSE.containerStopped);
}

/** Whether the row still has the same container and the same start: only then does the observation apply. */
export const isSameRun = (row: Container, now: Container): boolean =>
  now.runtimeId === row.runtimeId && now.startedAt?.getTime() === row.startedAt?.getTime();

/** A running container's reason no longer holds: clears it, if it is still that one, and announces it. */
export async function clearReason(
  { storage }: Pick<ContainerDeps, 'storage'>,
  { dbId, runtimeId }: Container,
  reason: string,
): Promise<void> {
  await storage.inTransaction(async (tx) => {
    const now = await tx.roleSetups.findForUpdate(dbId);
    if (now?.runtimeId !== runtimeId || now.stateReason !== reason) return;
    if ((await tx.operations.active(dbId)) !== null) return;
    const changed = await tx.containers.changeState(dbId, ['running'], { state: 'running' });
    if (changed !== null) await tx.events.append(progressEvent(changed));
  });
}
