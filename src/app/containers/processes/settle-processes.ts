import type { Container } from '../../../domain/containers/container.ts';
import {
  type ContainerProcess,
  observationOf,
  observed,
} from '../../../domain/containers/processes/process.ts';
import { ContainerNotRunning } from '../../../ports/containers/container-runtime.ts';
import type { ContainerUse } from '../../../ports/containers/lifetime/lifetime-repository.ts';
import { handleOf } from '../find-container.ts';
import type { ProcessDeps } from './process-deps.ts';

/** Processes of all containers that a pass looks at. */
const MAX_IN_PASS = 5000;

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
  return await processes.list(handle).catch((error: unknown) => {
    if (error instanceof ContainerNotRunning) return null;
    throw error;
  });
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

/** The containers in which processes run, as of the last pass. */
export function busyContainers() {
  let ids: ReadonlySet<string> = new Set();
  return {
    add(dbId: string): void {
      ids = new Set([...ids, dbId]);
    },
    replace(dbIds: ReadonlySet<string>): void {
      ids = dbIds;
    },
    usesNow: (): ContainerUse[] => [...ids].map((dbId) => ({ dbId, kind: 'process' })),
  };
}

export type BusyContainers = ReturnType<typeof busyContainers>;

/** Notices what has ended, and forgets what is no longer shown; for a timer. */
export const settleAll =
  (deps: ProcessDeps, busy: Pick<BusyContainers, 'replace'>) => async (): Promise<void> => {
    const stillBusy = new Set<string>();
    const { containers, processes } = deps.storage.repositories;
    const open = await processes.active(MAX_IN_PASS);
    for (const [dbId, records] of Map.groupBy(open, (record) => record.dbId)) {
      const container = await containers.findAny(dbId);
      if (container === null) continue;
      const now = await settled(deps, container, records).catch((err: unknown) => {
        deps.log.warn({ err, dbId }, 'could not look at the processes of a container');
        return records;
      });
      if (now.some(({ state }) => state.kind !== 'ended')) stillBusy.add(dbId);
    }
    busy.replace(stillBusy);
    await processes.forget();
  };
