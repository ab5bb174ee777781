import { randomBytes, randomUUID } from 'node:crypto';
import { within } from '../../../concurrency/timeout.ts';
import { type Container, nameFaults } from '../../../domain/containers/container.ts';
import { type Labels, labelFaults } from '../../../domain/containers/lifetime/labels.ts';
import {
  firstLifetime,
  type LifetimeRequest,
  lifetimeFaults,
  NO_LIFETIME,
} from '../../../domain/containers/lifetime/lifetime.ts';
import { type Resources, resourceFaults, type Tier } from '../../../domain/containers/resources.ts';
import {
  FILE_SYSTEM_MB,
  forkNames,
  MAX_FORKS,
  snapshotMb,
} from '../../../domain/containers/snapshots/snapshot.ts';
import type { FieldFaults } from '../../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { Note } from '../../idempotency.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { tierOf } from '../container-limits.ts';
import { checkHostDisk } from '../disk-quota.ts';
import { findOwn } from '../find-container.ts';
import { insertContainer } from '../insert-container.ts';
import type { Prepare } from '../operations/begin-operation.ts';
import { pinged } from '../operations/operation-deps.ts';
import { makeSnapshotRoom } from './snapshot-room.ts';
import { findSource, newSnapshot, type Source } from './take-snapshot.ts';

export type ForkRequest = {
  readonly count: number;
  /** The name of the fork; several are numbered. */
  readonly name?: string;
  readonly labels?: Labels;
  readonly isEphemeral: boolean;
  readonly lifetime: LifetimeRequest;
};

type Forks = ForkRequest & { readonly names: readonly string[] };

/** The snapshot that is taken for the forks, and their ids. */
type ForkIds = { readonly snapshotId: string; readonly dbIds: string[] };

/**
 * Makes containers with a container's current files, limits and environment, and waits up to `createWaitMs` for them.
 * One transaction records a snapshot, and the containers to be made from it; the snapshot goes when they are made.
 * `note` records the snapshot's id.
 */
export const forkContainer =
  (deps: ContainerDeps) =>
  async (
    id: string,
    request: ForkRequest,
    caller: Caller,
    origin: RequestOrigin,
    note?: Note,
  ): AsyncResult<readonly Container[]> => {
    const answers = pinged(deps);
    const suffix = randomBytes(2).toString('hex');
    const namesOf = ({ name }: Container) => forkNames(name, request.name, request.count, suffix);
    const tier = await tierOf(deps.storage.repositories, caller);
    const lifetime = firstLifetime(request.lifetime, request.isEphemeral, tier);
    const faultsOf = (source: Container) =>
      forkFaults({ ...request, lifetime }, namesOf(source), source.resources, tier);
    const found = await findSource(deps, id, caller, faultsOf);
    if (!found.ok) return found;
    const fits = await checkSizes(deps, found.value, tier, request.count);
    if (!fits.ok) return fits;
    const { dbId } = found.value.container;
    const names = namesOf(found.value.container);
    const forks: ForkIds = { snapshotId: randomUUID(), dbIds: [] };
    const prepare: Prepare = async (tx) => {
      await tx.users.lock(caller.user.id);
      const now = await findOwn(tx, dbId, caller);
      if (!now.ok) return now;
      const source = { ...found.value, container: now.value };
      const planned = await writeForks(
        deps,
        tx,
        source,
        { ...request, lifetime, names },
        forks,
        caller,
        origin,
      );
      if (!planned.ok) return planned;
      await note?.(tx, forks.snapshotId);
      return ok({ container: now.value, target: { name: now.value.name, resources: now.value.resources } });
    };
    const operation = { kind: 'snapshot', caller, origin, snapshotId: forks.snapshotId } as const;
    const taking = deps.operations.submit(dbId, operation, prepare, { answers });
    const making = taking.then(
      async (taken) => (taken.ok ? await settleAll(deps, forks.dbIds) : taken),
      async (error: unknown) => {
        // Without their snapshot the forks fail at once.
        await settleAll(deps, forks.dbIds).catch(() => undefined);
        throw error;
      },
    );
    const made = await within(deps.settings.createWaitMs, making, null);
    return made ?? (await presentRows(deps, forks.dbIds));
  };

function forkFaults(
  request: ForkRequest,
  names: readonly string[],
  resources: Resources,
  tier: Tier,
): FieldFaults {
  const { count, labels = {}, isEphemeral, lifetime } = request;
  return {
    ...(Number.isInteger(count) && count >= 1 && count <= MAX_FORKS
      ? {}
      : { count: `must be a whole number from 1 to ${MAX_FORKS}` }),
    ...nameFaults(names.at(-1) ?? ''),
    ...labelFaults(labels),
    ...lifetimeFaults(lifetime, { ...NO_LIFETIME, isEphemeral }, tier),
    // The tier may have become smaller since the source was made.
    ...resourceFaults(resources, tier),
  };
}

/** Whether the owner's tier allows the layer, and the host has room for the snapshot and all forks. */
async function checkSizes(
  deps: Pick<ContainerDeps, 'runtime' | 'settings'>,
  { layerMb, volumeMb }: Source,
  tier: Tier,
  count: number,
): AsyncResult<null> {
  if (layerMb > tier.layerMb) {
    const fault = `cannot be forked: ${layerMb} MB are outside /workspace, and the limit is ${tier.layerMb} MB`;
    return refuse({ code: 'validation_failed', fields: { layerMb: fault } });
  }
  return await checkHostDisk(deps, layerMb + (volumeMb + FILE_SYSTEM_MB) * (count + 1));
}

/** Writes the snapshot's row, and the containers with the operations that make them. */
async function writeForks(
  deps: Pick<ContainerDeps, 'operations' | 'settings'>,
  tx: Repositories,
  source: Source,
  { names, labels, isEphemeral, lifetime }: Forks,
  forks: ForkIds,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<null> {
  const { snapshotId } = forks;
  forks.dbIds.splice(0, forks.dbIds.length, ...names.map(() => randomUUID()));
  const room = await makeSnapshotRoom(tx, caller, snapshotMb(source), true);
  if (!room.ok) return room;
  const named = { name: `fork-${snapshotId}`, note: '', labels: {} };
  const snapshot = await tx.snapshots.insert(newSnapshot(snapshotId, source, named, forks.dbIds));
  const { env, imageKey, image, shell, role, resources } = source.container;
  for (const [at, name] of names.entries()) {
    const plan = {
      name,
      image: { key: imageKey, reference: image, digest: null, label: '', shell },
      role,
      resources,
      lifetime,
      snapshot,
    };
    const of = { env, isEphemeral, ...(labels === undefined ? {} : { labels }) };
    const dbId = forks.dbIds[at] ?? randomUUID();
    const inserted = await insertContainer(deps, tx, of, plan, caller, { newId: dbId });
    if (!inserted.ok) return inserted;
    await deps.operations.recordNew(
      tx,
      { kind: 'create', caller, origin, snapshotId },
      inserted.value.container,
    );
  }
  return ok(null);
}

/** Waits for the forks. Those that failed are deleted; throws when all failed. */
async function settleAll(
  deps: Pick<ContainerDeps, 'storage' | 'operations'>,
  dbIds: readonly string[],
): AsyncResult<readonly Container[]> {
  const settled = await Promise.allSettled(dbIds.map((dbId) => deps.operations.settle(dbId)));
  const failed = settled.find((one) => one.status === 'rejected');
  if (failed !== undefined && settled.every((one) => one.status === 'rejected')) throw failed.reason;
  return await presentRows(deps, dbIds);
}

async function presentRows(
  { storage }: Pick<ContainerDeps, 'storage'>,
  dbIds: readonly string[],
): AsyncResult<readonly Container[]> {
  const rows = await Promise.all(dbIds.map((dbId) => storage.repositories.containers.findAny(dbId)));
  const found = rows.filter((row) => row !== null);
  // Another operation still has its turn.
  return found.length === 0 ? refuse({ code: 'container_busy' }) : ok(found);
}
