import { within } from '../../concurrency/timeout.ts';
import type { Container } from '../../domain/containers/container.ts';
import { isHostShort, judgeDisk, type Quota, toMb } from '../../domain/containers/disk-quota.ts';
import { type LayerUse, layerMb } from '../../domain/containers/layer/layer-usage.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import { ok, refuse } from '../../domain/result.ts';
import type { AsyncResult } from '../async-result.ts';
import type { ContainerDeps } from './container-deps.ts';
import { handleOf } from './find-container.ts';

/** A request does not wait longer for a measurement: it uses the last one. */
export const REQUEST_SECONDS = 20;

export type Use = {
  readonly quota: Quota;
  readonly usedMb: number | null;
  /** False when `usedMb` is the last value because the volume could not be measured. */
  readonly isMeasured: boolean;
  readonly layer?: LayerUse | null;
};

export type Reading = {
  /** A volume that takes longer counts with its last value. Absent: the engine's own limit. */
  readonly withinSeconds?: number | undefined;
  readonly isWithoutLayer?: boolean;
};

/** Measures a container's layer; null when it has none or cannot be measured. */
export async function readLayer(
  { runtime }: Pick<ContainerDeps, 'runtime'>,
  row: Container,
): Promise<LayerUse | null> {
  const handle = handleOf(row);
  return handle === null ? null : await runtime.layerUse(handle, row.image);
}

/** Measures a volume and its layer. Unmeasurable ones keep their last value. */
export async function readUse(
  deps: Pick<ContainerDeps, 'runtime'>,
  row: Container,
  { withinSeconds, isWithoutLayer = false }: Reading = {},
): Promise<Use> {
  const { runtime } = deps;
  const handle = handleOf(row);
  const running = row.state === 'running' ? handle : null;
  const counting = runtime.usedBytes(row.volume, { image: row.image, running, withinSeconds });
  const [facts, bytes, layer] = await Promise.all([
    runtime.volumeFacts(row.volume),
    withinSeconds === undefined ? counting : within(withinSeconds * 1000, counting, null),
    isWithoutLayer ? null : readLayer(deps, row),
  ]);
  if (facts === null) return { quota: row.diskQuota, usedMb: 0, isMeasured: true, layer };
  const usedMb = bytes === null ? row.diskUsedMb : toMb(bytes);
  return { quota: facts.quota, usedMb, isMeasured: bytes !== null, layer };
}

/** Measures a volume and its layer, and records changes. */
export async function measure(
  deps: Pick<ContainerDeps, 'storage' | 'runtime'>,
  row: Container,
  reading: Reading = {},
): Promise<Use> {
  const use = await readUse(deps, row, reading);
  await recordUse(deps, row, use);
  return use;
}

/** Records what a measurement has changed. What it did not measure stays: another one may have just recorded it. */
export async function recordUse(
  { storage }: Pick<ContainerDeps, 'storage'>,
  row: Container,
  { quota, usedMb, isMeasured, layer = null }: Use,
): Promise<void> {
  const layerUsedMb = layer === null ? row.layerUsedMb : layerMb(layer);
  if (quota !== row.diskQuota || usedMb !== row.diskUsedMb || layerUsedMb !== row.layerUsedMb) {
    const ofVolume = isMeasured ? { quota, usedMb } : { quota };
    const ofLayer = layer === null ? {} : { layerUsedMb: layerMb(layer) };
    await storage.repositories.diskUse.record(row.dbId, { ...ofVolume, ...ofLayer });
  }
}

/** Refuses anything new on a host below its floor, now or with `neededMb` more in use. */
export async function checkHostDisk(
  { runtime, settings }: Pick<ContainerDeps, 'runtime' | 'settings'>,
  neededMb = 0,
): AsyncResult<null> {
  const left = (await runtime.hostSpace()).map((space) => ({
    ...space,
    freeBytes: space.freeBytes - neededMb * 1_048_576,
  }));
  return isHostShort(left, settings.diskFloorMb) ? refuse({ code: 'host_disk_short' }) : ok(null);
}

/**
 * Whether it may start: not above its disk size, nor when a recreate is needed on a host short of space. A container
 * above its size is measured again first.
 */
export async function diskAllowsStart(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'settings'>,
  row: Container,
): AsyncResult<null> {
  if (row.state === 'running') return ok(null);
  if (
    isOver(row, { quota: row.diskQuota, usedMb: row.diskUsedMb }) &&
    isOver(row, await measure(deps, row))
  ) {
    return refuse({ code: 'disk_quota_exceeded' });
  }
  const room = await checkHostDisk(deps);
  const handle = handleOf(row);
  if (room.ok || (handle !== null && (await deps.runtime.observe(handle)).kind !== 'gone')) return ok(null);
  return room;
}

const isOver = ({ resources }: Container, { quota, usedMb }: Pick<Use, 'quota' | 'usedMb'>): boolean =>
  judgeDisk(quota, usedMb, resources.diskMb) !== 'fine';

/** Why another container with `diskMb` cannot use the same volume; empty when it can. */
export async function diskFaults(
  deps: Pick<ContainerDeps, 'runtime'>,
  row: Container,
  diskMb: number,
): Promise<FieldFaults> {
  const isOther = diskMb !== row.resources.diskMb;
  const facts = isOther ? await deps.runtime.volumeFacts(row.volume, diskMb) : null;
  if (facts?.isResizable === false)
    return { diskMb: 'cannot change: the engine fixes the size of this volume' };
  const { minMb = 0 } = facts ?? {};
  if (diskMb < minMb) return { diskMb: `must be at least ${minMb}: the engine cannot shrink this volume` };
  if (diskMb >= row.resources.diskMb && (row.diskUsedMb ?? 0) <= diskMb) return {};
  const { quota, usedMb } = await readUse(deps, row, { withinSeconds: REQUEST_SECONDS });
  const matters = quota === 'soft' || isOther;
  return matters && usedMb !== null && usedMb > diskMb
    ? { diskMb: `must be at least ${usedMb}, the size of the files in the workspace` }
    : {};
}

/** Why the layer cannot be carried over: the engine keeps none, or it exceeds the owner's tier. */
export async function carryOverFaults(
  deps: Pick<ContainerDeps, 'runtime'>,
  row: Container,
): Promise<FieldFaults> {
  if (!deps.runtime.capabilities.takesSnapshots)
    return { carryOver: 'is not possible: the engine keeps nothing outside /workspace' };
  const handle = handleOf(row);
  const allowedMb = row.layerAllowedMb;
  const layer = handle === null ? null : await deps.runtime.layerUse(handle, row.image);
  if (layer === null || layerMb(layer) <= allowedMb) return {};
  return {
    carryOver: `is not possible: ${layerMb(layer)} MB are outside /workspace, and the limit is ${allowedMb} MB`,
  };
}
