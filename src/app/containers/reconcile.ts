import { type Container, settledState } from '../../domain/container.ts';
import { containerEvent } from '../../domain/events.ts';
import type { ListedContainer } from '../../ports/container-runtime.ts';
import type { ContainerDeps } from './deps.ts';

/**
 * Goes on with operations that someone left, then makes the rows say what the engine says, from a listing of the
 * engine's containers. Throws, and changes nothing, when the engine does not answer. A second pass does nothing.
 */
export const reconcile = (deps: ContainerDeps) => async (): Promise<void> => {
  await deps.runtime.ping();
  await deps.operations.takeOver();
  const { containers, operations } = deps.storage.repositories;
  // Rows first: what is created after the listing is not missed by it.
  const rows = await containers.listAllLive();
  const listed = await deps.runtime.list();
  const busy = await operations.busy();
  for (const row of rows) if (!busy.has(row.dbId)) await settle(deps, row, listed);
};

async function settle(
  deps: ContainerDeps,
  row: Container,
  listed: readonly ListedContainer[],
): Promise<void> {
  const current = listed.find(({ handle }) => handle.runtimeId === row.runtimeId);
  const gone = { kind: 'gone', volumeExists: true } as const;
  const state = settledState(row, current ? { kind: current.running ? 'running' : 'stopped' } : gone);
  if (state === null) return;
  deps.log.info({ dbId: row.dbId, from: row.state, to: state }, 'container settled');
  await deps.storage.inTransaction(async (tx) => {
    const reason = state === 'stopped' ? 'it was no longer running' : null;
    const changed = await tx.containers.changeState(row.dbId, [row.state], { state, reason });
    if (changed === null) return;
    await tx.events.append(
      containerEvent(state === 'running' ? 'container_started' : 'container_stopped', changed),
    );
  });
}
