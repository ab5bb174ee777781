import type { AuditEntry } from '../../../domain/audit.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { UpkeepDeps } from '../container-deps.ts';
import { handleOf } from '../find-container.ts';
import { syncState } from './sync-state.ts';

export type StopWithReason = {
  /** Shown to the container's owner. */
  readonly reason: string;
  readonly graceSeconds: number;
  /** Recorded with the decision, besides the stop itself. */
  readonly record?: AuditEntry;
};

/**
 * Stops a running container by Berth's decision, unless it is being changed. The reason is written first, so that every
 * process that notices the end shows it.
 */
export async function stopWithReason(
  deps: UpkeepDeps,
  row: Container,
  { reason, graceSeconds, record }: StopWithReason,
): Promise<void> {
  const handle = handleOf(row);
  const stopping = await deps.storage.inTransaction(async (tx) => {
    const now = await tx.containers.findAny(row.dbId);
    if (now?.runtimeId !== row.runtimeId || (await tx.operations.active(row.dbId)) !== null) return null;
    const changed = await tx.containers.changeState(row.dbId, ['running'], { state: 'stopping', reason });
    if (changed !== null && record !== undefined) await tx.audit.append(record);
    return changed;
  });
  if (stopping === null || handle === null) return;
  deps.log.warn({ dbId: row.dbId, ownerId: row.ownerId, reason }, 'container is stopped');
  deps.terminals.closeAll(row.dbId, CLOSE.containerStopped);
  await deps.runtime.stop(handle, graceSeconds);
  await syncState(deps, stopping, 'stopped', 'stopped');
}
