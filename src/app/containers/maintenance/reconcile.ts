import {
  type Container,
  decideOrphan,
  laterOf,
  type Made,
  syncedState,
} from '../../../domain/containers/container.ts';
import {
  isContainerUnresponsive,
  isWaitedFor,
  type ListedContainer,
  type ObservedContainer,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { handleOf } from '../find-container.ts';
import { NODE_SILENT } from '../operations/fail-operation.ts';
import { adoptLater } from './adopt-later.ts';
import { removeUnusedImages } from './image-cleanup.ts';
import { clearReason, syncState } from './sync-state.ts';

const QUARANTINE_GRACE_SECONDS = 10;

/**
 * Continues abandoned operations, then sets the rows to what the engine lists, and handles engine containers without a
 * row. Throws, and changes nothing, when the engine does not answer. A second pass changes nothing.
 */
export const reconcile =
  (deps: ContainerDeps) =>
  async (onProgress: () => void = () => {}): Promise<void> => {
    await deps.runtime.ping();
    await deps.operations.takeOver();
    const { containers, operations, warmPool } = deps.storage.repositories;
    // Rows before the listing: a container made in between is in the listing, or its row is busy.
    const rows = await containers.listAllLive();
    const listed = await deps.runtime.list();
    // Before the operations: a member claimed in between has become a row.
    const members = await warmPool.ids();
    const busy = await operations.busy();
    const byRuntimeId = new Map(listed.map((one) => [one.handle.runtimeId, one]));
    const byDbId = Map.groupBy(listed, ({ dbId }) => dbId);
    for (const row of rows) {
      const current = byRuntimeId.get(row.runtimeId ?? '');
      if (!busy.has(row.dbId)) await settle(deps, row, current, byDbId.get(row.dbId) ?? []);
      onProgress();
    }
    // A row that named its container before the listing keeps it: no query for each container.
    const named = new Set(rows.map(({ runtimeId }) => runtimeId));
    const others = listed.filter(({ handle }) => !named.has(handle.runtimeId));
    await putAway(deps, others, new Set([...busy, ...members]), onProgress);
    await removeUnusedImages(deps);
  };

/** A row whose container is gone gets the later one that the engine has. */
async function settle(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'terminals' | 'log'>,
  row: Container,
  current: ListedContainer | undefined,
  ofRow: readonly ListedContainer[],
): Promise<void> {
  const handle = handleOf(row);
  const later = current === undefined ? laterOf(row, ofRow) : null;
  if (later === null || isWaitedFor(later)) return await syncObserved(deps, row, current);
  const old = handle === null ? GONE : await observeIfAnswering(deps, handle);
  if (old?.kind === 'gone') await adoptLater(deps, row, later);
}

const GONE = { kind: 'gone', volumeExists: true } as const;

async function syncObserved(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'terminals' | 'log'>,
  row: Container,
  current: ListedContainer | undefined,
): Promise<void> {
  if (syncedState(row, current ? { kind: current.state } : GONE) !== null) {
    // A pass takes long: an operation may have begun and ended since the listing.
    const handle = handleOf(row);
    const seen = handle === null ? GONE : await observeIfAnswering(deps, handle);
    const observation = seen?.kind === 'gone' ? GONE : seen;
    const state = observation === null ? null : syncedState(row, observation);
    if (observation !== null && state !== null) await syncState(deps, row, state, observation.kind);
    return;
  }
  const isSeen = current?.state === 'running' && !isWaitedFor(current);
  if (row.stateReason === NODE_SILENT && row.state === 'running' && isSeen)
    await clearReason(deps, row, NODE_SILENT);
}

/** Null for one whose node does not answer: the next pass asks again. */
const observeIfAnswering = (
  { runtime }: Pick<ContainerDeps, 'runtime'>,
  handle: RuntimeHandle,
): Promise<ObservedContainer | null> =>
  runtime.observe(handle).catch((error: unknown) => {
    if (isContainerUnresponsive(error)) return null;
    throw error;
  });

const madeOf = ({ handle: { runtimeId }, generation }: ListedContainer): Made => ({ runtimeId, generation });

/** Never touches volumes: a container can be made again, data cannot. */
async function putAway(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'clock' | 'log'>,
  listed: readonly ListedContainer[],
  busy: ReadonlySet<string>,
  onProgress: () => void,
): Promise<void> {
  const { containers, orphans, retention } = deps.storage.repositories;
  const strays: { readonly one: ListedContainer; readonly row: Container | null }[] = [];
  for (const one of listed) {
    const row = await containers.findAny(one.dbId);
    const now = deps.clock.now();
    const decision = decideOrphan(madeOf(one), row, busy.has(one.dbId), null, now);
    if (decision !== 'keep') strays.push({ one, row });
    // Its owner has restored it since the backup: the volume is kept as long as after a delete.
    if (decision === 'quarantine' && row?.state === 'deleted') await retention.keepAnew(row.dbId);
  }
  const observation = await orphans.remember(strays.map(({ one }) => one.handle.runtimeId));
  for (const { one, row } of strays) {
    onProgress();
    const { runtimeId } = one.handle;
    const seenAt = observation.get(runtimeId) ?? null;
    const decision = decideOrphan(madeOf(one), row, false, seenAt, deps.clock.now());
    if (isWaitedFor(one) || (decision === 'quarantine' && one.state === 'stopped')) continue;
    deps.log.warn({ dbId: one.dbId, runtimeId, decision }, 'engine container without a database row');
    const done =
      decision === 'remove'
        ? deps.runtime.remove(one.handle)
        : deps.runtime.stop(one.handle, QUARANTINE_GRACE_SECONDS);
    // The next pass tries it again.
    await done.catch((error: unknown) => {
      if (!isContainerUnresponsive(error)) throw error;
    });
  }
}
