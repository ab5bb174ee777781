import { poll } from '../../../concurrency/poll.ts';
import { within } from '../../../concurrency/timeout.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import { execute, type KnownAtStart, rowOf } from './execute-operation.ts';
import { stateDuring } from './new-operation.ts';
import { isUnderWay, LEASE_SECONDS, type OperationDeps, type OperationState } from './operation-deps.ts';

const POLL_MS = 100;

/** The operations that this process works on. */
export type OwnWork = {
  readonly running: Map<string, Promise<OperationState>>;
  /** Leases that could not be released while the database did not answer: still ours. */
  readonly unreleased: Set<string>;
  hasTakenOver: boolean;
  /** The last release or takeover: a release under way could end the lease of one that is taken over meanwhile. */
  lastChange: Promise<unknown>;
};

export const noWork = (): OwnWork => ({
  running: new Map(),
  unreleased: new Set(),
  hasTakenOver: false,
  lastChange: Promise.resolve(),
});

function inTurn<T>(work: OwnWork, change: () => Promise<T>): Promise<T> {
  const turn = work.lastChange.then(change);
  work.lastChange = turn.catch(() => undefined);
  return turn;
}

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
  work.unreleased.delete(operation.id);
  const committed = Promise.withResolvers<OperationState>();
  const done = execute(deps, operation, begun, committed.resolve).then(
    async (left) => {
      if (left.operation.outcome === null) await releaseOrRemember(deps, work, operation.id);
      return asItShows(left);
    },
    async (error: unknown) => {
      await releaseOrRemember(deps, work, operation.id);
      throw error;
    },
  );
  work.running.set(operation.id, done);
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
  const here = running.get(id);
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
  await inTurn(work, async () => {
    await Promise.all([...work.unreleased].map((id) => release(deps, work, id)));
  });
}

/**
 * Takes over abandoned operations. The first call, before any new work, includes those of an earlier run of this
 * replica.
 */
export const takeOver = (deps: OperationDeps, work: OwnWork): Promise<void> =>
  inTurn(work, () => takeOverNow(deps, work));

async function takeOverNow(deps: OperationDeps, work: OwnWork): Promise<void> {
  const { storage, owner, log } = deps;
  const isFirst = !work.hasTakenOver;
  const taken = await storage.repositories.operations.takeOver(owner, LEASE_SECONDS, isFirst);
  work.hasTakenOver = true;
  for (const operation of taken) {
    if (work.running.has(operation.id)) continue;
    log.warn({ dbId: operation.dbId, kind: operation.kind }, 'continuing an unfinished operation');
    workOn(deps, work, operation).catch((err: unknown) => log.warn({ err }, 'the operation failed'));
  }
}

async function release({ storage, owner }: OperationDeps, work: OwnWork, id: string): Promise<void> {
  await storage.repositories.operations.release(id, owner);
  work.unreleased.delete(id);
}

const releaseOrRemember = async (deps: OperationDeps, work: OwnWork, id: string): Promise<void> =>
  void (await inTurn(work, () => release(deps, work, id)).catch(() => work.unreleased.add(id)));

/** The row as other requests see it during the operation. */
const asItShows = (left: OperationState): OperationState =>
  isUnderWay(left)
    ? {
        ...left,
        container: { ...left.container, state: stateDuring(left.operation.kind, left.container.state) },
      }
    : left;
