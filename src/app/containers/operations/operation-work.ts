import { poll } from '../../../concurrency/poll.ts';
import { within } from '../../../concurrency/timeout.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { execute, type KnownAtStart, rowOf } from './execute-operation.ts';
import { stateDuring } from './new-operation.ts';
import { isUnderWay, LEASE_SECONDS, type OperationDeps, type OperationState } from './operation-deps.ts';

const POLL_MS = 100;

type Lease = { readonly id: string; number: number };

/** The operations that this process works on. */
export type OwnWork = {
  readonly running: Map<string, { readonly lease: Lease; readonly done: Promise<OperationState> }>;
  /** Leases that could not be released while the database did not answer: still ours. */
  readonly unreleased: Set<Lease>;
  hasTakenOver: boolean;
};

export const noWork = (): OwnWork => ({
  running: new Map(),
  unreleased: new Set(),
  hasTakenOver: false,
});

/**
 * Works on an operation whose lease this process has, until it is committed; what it replaced is removed after that. If
 * it does not end, the lease is released.
 */
export function workOn(
  deps: OperationDeps,
  work: OwnWork,
  operation: StoredOperation,
  begun: KnownAtStart = {},
): Promise<OperationState> {
  const lease: Lease = { id: operation.id, number: operation.leaseNumber };
  const committed = Promise.withResolvers<OperationState>();
  const done = execute(deps, operation, begun, committed.resolve).then(
    async (left) => {
      if (left.operation.outcome === null) await releaseOrRemember(deps, work, lease);
      return asItShows(left);
    },
    async (error: unknown) => {
      await releaseOrRemember(deps, work, lease);
      throw error;
    },
  );
  work.running.set(operation.id, { lease, done });
  const forget = (): void => void work.running.delete(operation.id);
  done.then(forget, forget);
  return Promise.race([committed.promise, done]);
}

/** The end of an operation that another request began, in any process; null after the time limit. */
export async function endOf(
  deps: OperationDeps,
  { running }: OwnWork,
  id: string,
  deadline: number,
): Promise<OperationState | null> {
  const here = running.get(id)?.done;
  const withinMs = deadline - performance.now();
  if (here !== undefined) return await within(withinMs, here, null);
  const over = await poll(
    async () => {
      const operation = await deps.storage.repositories.operations.find(id);
      return operation?.outcome === null ? null : { operation };
    },
    { withinMs, everyMs: POLL_MS },
  );
  const operation = over?.operation ?? null;
  return operation && { operation, container: await rowOf(deps, operation) };
}

/** Renews the leases of this work, and retries failed releases. */
export async function renewLeases(deps: OperationDeps, work: OwnWork): Promise<void> {
  const { storage, owner } = deps;
  await storage.repositories.operations.renew(owner, [...work.running.keys()], LEASE_SECONDS);
  await Promise.all([...work.unreleased].map((lease) => release(deps, work, lease)));
}

/**
 * Takes over abandoned operations. The first call, before any new work, includes those of an earlier run of this
 * replica.
 */
export async function takeOver(deps: OperationDeps, work: OwnWork): Promise<void> {
  const { storage, owner, log } = deps;
  const isFirst = !work.hasTakenOver;
  const taken = await storage.repositories.operations.takeOver(owner, LEASE_SECONDS, isFirst);
  work.hasTakenOver = true;
  for (const operation of taken) {
    const here = work.running.get(operation.id);
    if (here !== undefined) {
      here.lease.number = operation.leaseNumber;
      continue;
    }
    log.warn({ dbId: operation.dbId, kind: operation.kind }, 'continuing an unfinished operation');
    workOn(deps, work, operation).catch((err: unknown) => log.warn({ err }, 'the operation failed'));
  }
}

async function release({ storage, owner }: OperationDeps, work: OwnWork, lease: Lease): Promise<void> {
  await storage.repositories.operations.release(lease.id, owner, lease.number);
  work.unreleased.delete(lease);
}

const releaseOrRemember = async (deps: OperationDeps, work: OwnWork, lease: Lease): Promise<void> =>
  void (await release(deps, work, lease).catch(() => work.unreleased.add(lease)));

/** The row as other requests see it during the operation. */
const asItShows = (left: OperationState): OperationState =>
  isUnderWay(left)
    ? {
        ...left,
        container: { ...left.container, state: stateDuring(left.operation.kind, left.container.state) },
      }
    : left;
