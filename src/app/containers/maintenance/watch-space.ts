import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { Pass } from '../../../concurrency/repeat.ts';
import { type EachWithin, eachWithin } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import {
  type HostSpace,
  isHostFilling,
  isWorthMeasuring,
  notableBytes,
  toMb,
} from '../../../domain/containers/disk-quota.ts';
import { filledReason, layerMb, layerRemovedReason } from '../../../domain/containers/layer/layer-usage.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { ContainerDeps, UpkeepDeps } from '../container-deps.ts';
import { readUse, recordUse, type Use } from '../disk-quota.ts';
import { handleOf } from '../find-container.ts';
import { layerFault, stopForDisk } from './watch-disk-usage.ts';

const AT_A_TIME = 4;
/** A search does not wait longer for a container, whose own shell may count its files and never answer. */
const LATE_MS = 5_000;
/** Time limit for counting a volume. A slower one counts with its last value; its layer is judged all the same. */
const COUNT_SECONDS = 3;
/** Every second of grace is a second of writing. */
const GRACE_SECONDS = 1;
const MIB = 1_048_576;

/**
 * Watches the free space of the host and the engine; for a timer of a second or two. When it drops fast, or below half
 * of the floor, containers are measured at once. Those above their allowance are stopped, else the one that has written
 * most since its last measurement: its own writes count, not what its image or volume had before.
 */
export function watchSpace(deps: ContainerDeps): Pass {
  /** The most free space of each file system since the last search. */
  let seen: readonly HostSpace[] = [];
  const measureInTime = eachWithin(
    LATE_MS,
    ({ row }: Wanted) => row.dbId,
    (wanted) => measureFor(deps, wanted),
  );
  const pass = async (): Promise<void> => {
    const now = await deps.runtime.hostSpace().catch(() => []);
    // They come in one order; when others can be read than before, none is known.
    const isSame = seen.length === now.length && seen.every(({ path }, at) => path === now[at]?.path);
    const before = (at: number): number | null => (isSame ? (seen[at]?.freeBytes ?? null) : null);
    const due = now.filter((space, at) => isWorthMeasuring(space, before(at), deps.settings.diskFloorMb));
    if (due.length === 0) {
      seen = now.map((space, at) => ({ ...space, freeBytes: Math.max(space.freeBytes, before(at) ?? 0) }));
      return;
    }
    await findWriters(deps, due, measureInTime).catch((err: unknown) => {
      if (!(err instanceof RuntimeUnavailable)) throw err;
    });
    seen = await deps.runtime.hostSpace().catch(() => []);
  };
  return Object.assign(pass, { idle: measureInTime.idle });
}

/** The file systems running full, and what is measured because of them. */
type Search = {
  readonly due: readonly HostSpace[];
  readonly measurements: Measurement[];
  /** It waits for no other measurement. */
  isOver: boolean;
};

type Wanted = { readonly row: Container; readonly search: Search };

type Measurement = { readonly row: Container; readonly use: Use; readonly grewMb: number };

async function findWriters(
  deps: ContainerDeps,
  due: readonly HostSpace[],
  measureInTime: EachWithin<Wanted>,
): Promise<void> {
  const { containers, operations } = deps.storage.repositories;
  // A container being changed may have no volume, and measuring would mount it.
  const [live, busy] = [await containers.listAllLive(), await operations.busy()];
  const running = live.filter(({ dbId, state }) => state === 'running' && !busy.has(dbId));
  const measurements: Measurement[] = [];
  const search: Search = { due, measurements, isOver: false };
  const wanted = running.map((row) => ({ row, search }));
  await forEachAtMost(AT_A_TIME, wanted, measureInTime);
  search.isOver = true;
  const filling = due.find((space) => isHostFilling(space, deps.settings.diskFloorMb));
  let isAnyOver = false;
  for (const { row, use } of measurements) {
    const reason = layerFault(row, use.layer);
    if (reason === null) continue;
    isAnyOver = true;
    if (filling === undefined) await stopForDisk(deps, row, reason, GRACE_SECONDS);
    else await stopAndRemove(deps, row, layerRemovedReason(reason));
  }
  const most = measurements.toSorted((a, b) => b.grewMb - a.grewMb)[0];
  if (isAnyOver || filling === undefined || most === undefined) return;
  if (most.grewMb * MIB < notableBytes(filling, deps.settings.diskFloorMb)) return;
  await stopForDisk(deps, most.row, filledReason(most.grewMb), GRACE_SECONDS);
}

/** Removing its layer frees space for others. The next start recreates it on its volume. */
async function stopAndRemove(deps: UpkeepDeps, row: Container, reason: string): Promise<void> {
  await stopForDisk(deps, row, reason, GRACE_SECONDS);
  const now = await deps.storage.repositories.containers.findAny(row.dbId);
  const handle = handleOf(row);
  if (handle !== null && now?.state === 'stopped' && now.runtimeId === row.runtimeId)
    await deps.runtime.remove(handle);
}

async function measureFor(deps: ContainerDeps, { row, search }: Wanted): Promise<void> {
  const use = await readUse(deps, row, { withinSeconds: COUNT_SECONDS }).catch(() => null);
  if (use === null) return;
  if (search.isOver) return await judgeLate(deps, row, use);
  search.measurements.push({ row, use, grewMb: grownMb(row, use, search.due) });
  await recordUse(deps, row, use);
}

/** Not recorded: its growth counts in the next search. */
async function judgeLate(deps: UpkeepDeps, row: Container, { layer }: Use): Promise<void> {
  const reason = layerFault(row, layer);
  if (reason !== null) await stopForDisk(deps, row, reason, GRACE_SECONDS);
}

/** Its writes since the last measurement, to the file systems running full: a pool has only layers. */
function grownMb(row: Container, { layer = null, usedMb }: Use, due: readonly HostSpace[]): number {
  const inLayer = layer === null ? 0 : layerMb(layer) - (row.layerUsedMb ?? toMb(layer.layerImageBytes));
  const inVolume = due.every(({ isPool }) => isPool) ? 0 : (usedMb ?? 0) - (row.diskUsedMb ?? usedMb ?? 0);
  return Math.max(0, inLayer) + Math.max(0, inVolume);
}
