import { type Container, settledState } from '../../domain/container.ts';
import type { ListedContainer } from '../../ports/container-runtime.ts';
import type { ContainerDeps } from './deps.ts';

/**
 * Makes the rows say what the engine says, and settles what a killed process left half done. Works from a listing
 * of the engine's containers; throws, and changes nothing, when the engine does not answer.
 */
export const reconcile = (deps: ContainerDeps) => async (): Promise<void> => {
  const [rows, listed] = await Promise.all([
    deps.storage.repositories.containers.listAllLive(),
    deps.runtime.list(),
  ]);
  for (const row of rows) {
    await deps.serial(row.dbId, async () => settle(deps, row, listed));
  }
};

/** The engine's container that belongs to the row now: the recorded one, or one made just before a kill. */
const currentOf = (row: Container, listed: readonly ListedContainer[]): ListedContainer | undefined =>
  listed.find(({ handle }) => handle.runtimeId === row.runtimeId) ??
  listed.find(({ dbId, generation }) => dbId === row.dbId && generation === row.generation);

async function settle(
  deps: ContainerDeps,
  row: Container,
  listed: readonly ListedContainer[],
): Promise<void> {
  const current = currentOf(row, listed);
  const running = current?.running ?? false;
  const seen =
    current === undefined
      ? ({ kind: 'gone', volumeExists: true } as const)
      : ({ kind: running ? 'running' : 'stopped' } as const);
  const state = settledState(row, seen);
  if (state === null) return;
  deps.log.info({ dbId: row.dbId, from: row.state, to: state }, 'container settled');
  await deps.storage.repositories.containers.changeState(row.dbId, [row.state], {
    state,
    reason: state === 'stopped' ? 'it was no longer running' : null,
    ...(current === undefined ? {} : { runtimeId: current.handle.runtimeId, node: current.handle.node }),
  });
}
