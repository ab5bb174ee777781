import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { Pass } from '../../../concurrency/repeat.ts';
import { eachWithin } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import {
  type ContainerProcess,
  observationOf,
  observed,
} from '../../../domain/containers/processes/process.ts';
import { nullWhenStopped } from '../../../ports/containers/container-runtime.ts';
import { handleOf } from '../find-container.ts';
import type { ProcessDeps } from './process-deps.ts';
import { storeOutputs } from './store-outputs.ts';

const OWNERS_AT_A_TIME = 4;
/** A pass does not wait longer for a container. It is not asked again until it has answered. */
const LATE_MS = 2_000;

/** Brings the records of a container's processes up to date; returns them. */
export async function settled(
  deps: ProcessDeps,
  container: Container,
  records: readonly ContainerProcess[],
): Promise<readonly ContainerProcess[]> {
  const isOpen = records.some(({ state }) => state.kind !== 'ended');
  const seen = isOpen && container.state === 'running' ? await seenIn(deps, container) : null;
  return await Promise.all(records.map((record) => settledOne(deps, container, record, seen)));
}

type Seen = Awaited<ReturnType<ProcessDeps['processes']['list']>>;

/** null for a container that has just stopped: its row will say so. */
async function seenIn({ processes }: ProcessDeps, container: Container): Promise<Seen | null> {
  const handle = handleOf(container);
  if (handle === null) return null;
  return await processes.list(handle).catch(nullWhenStopped);
}

async function settledOne(
  { storage: { repositories }, clock }: ProcessDeps,
  container: Container,
  record: ContainerProcess,
  seen: Seen | null,
): Promise<ContainerProcess> {
  const observation = observationOf(record, container, seen);
  const state = observation === null ? null : observed(record, observation, clock.now());
  if (state === null) return record;
  if (await repositories.processes.advance(record.id, record.state.kind, state)) return { ...record, state };
  return (await repositories.processes.find(record.id, record.dbId)) ?? record;
}

/**
 * Notices what has ended, and forgets what is no longer shown; for a timer. Owners do not wait for each other: a
 * container's own shell lists its processes, and may never answer.
 */
export function settleAll(deps: ProcessDeps): Pass {
  const store = storeOutputs(deps);
  const settleInTime = eachWithin(
    LATE_MS,
    (dbId: string) => dbId,
    (dbId) => settleContainer(deps, dbId),
  );
  const pass = async (): Promise<void> => {
    const { processes } = deps.storage.repositories;
    const ofOwners = Map.groupBy(await processes.busyContainers(), ({ ownerId }) => ownerId);
    await forEachAtMost(OWNERS_AT_A_TIME, [...ofOwners.values()], async (containers) => {
      for (const { dbId } of containers) await settleInTime(dbId);
    });
    await store();
    await processes.forget();
  };
  return Object.assign(pass, { idle: settleInTime.idle });
}

async function settleContainer(deps: ProcessDeps, dbId: string): Promise<void> {
  const { containers, processes } = deps.storage.repositories;
  try {
    const records = await processes.list(dbId);
    const open = records.filter(({ state }) => state.kind !== 'ended');
    // Read later, it is never older than its processes.
    const container = await containers.findAny(dbId);
    if (container !== null) await settled(deps, container, open);
  } catch (err) {
    deps.log.warn({ err, dbId }, 'could not look at the processes of a container');
  }
}
