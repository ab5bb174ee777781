import { LRUCache } from 'lru-cache';
import { forEachAtMost } from '../../../concurrency/pool.ts';
import type { Pass } from '../../../concurrency/repeat.ts';
import { eachWithin } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { judgeDisk, overQuotaReason } from '../../../domain/containers/disk-quota.ts';
import { type LayerUse, layerMb, overLayerReason } from '../../../domain/containers/layer/layer-usage.ts';
import { ContainerNotRunning, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { UpkeepDeps } from '../container-deps.ts';
import { measure, readLayer, recordUse, type Use } from '../disk-quota.ts';
import { stopWithReason } from './stop-with-reason.ts';

/** A little less than the minute between two passes. */
const MEASURED_AGAIN_AFTER_SECONDS = 50;
const AT_A_TIME = 4;
/** A pass does not wait longer for a container, whose own shell may count its files and never answer. */
const LATE_SECONDS = 10;
/** So many volumes may be counted for longer, in the background. */
const LONG_COUNTS = 8;
/** One statement claims these. Other processes find the rest, so all of them measure. */
const CLAIMED_AT_ONCE = 100;
/** A pass that takes longer ends; the next one continues with those that were measured longest ago. */
const PASS_MS = 60_000;
const STOP_GRACE_SECONDS = 10;
/** After so many measurements in a row without a result it is logged, once. */
const FAILED_IN_A_ROW = 3;
const MAX_FAILED = 1_000;

/**
 * Measures running containers' volumes not measured for a minute, and stops containers too far above a soft size. Does
 * nothing while the engine is silent.
 */
export function watchDiskUsage(deps: UpkeepDeps): Pass {
  const note = failedMeasurements(deps);
  const count = limitedCounts();
  const measureInTime = eachWithin(
    LATE_SECONDS * 1000,
    ({ dbId }: Container) => dbId,
    (row) =>
      measureAndJudge(deps, row, { note, count }).catch((err: unknown) => {
        if (err instanceof ContainerNotRunning || err instanceof RuntimeUnavailable) return;
        deps.log.warn({ err, dbId: row.dbId }, 'a volume could not be measured');
      }),
  );
  /** Returns how many it has claimed. */
  const measureDue = async (): Promise<number> => {
    const { diskUse } = deps.storage.repositories;
    const due = await diskUse.claimDue(MEASURED_AGAIN_AFTER_SECONDS, CLAIMED_AT_ONCE);
    await forEachAtMost(AT_A_TIME, due, measureInTime);
    return due.length;
  };
  const pass = async (): Promise<void> => {
    const answers = await deps.runtime.ping().then(
      () => true,
      () => false,
    );
    if (!answers) return;
    const untilMs = performance.now() + PASS_MS;
    let claimed: number;
    do claimed = await measureDue();
    while (claimed === CLAIMED_AT_ONCE && performance.now() < untilMs);
  };
  return Object.assign(pass, { idle: measureInTime.idle });
}

type Note = (row: Container, use: Use) => void;

/** Logs a container that cannot be measured several times in a row: its disk size is not enforced. */
function failedMeasurements({ log }: Pick<UpkeepDeps, 'log'>): Note {
  const failed = new LRUCache<string, number>({ max: MAX_FAILED });
  return ({ dbId }, { isMeasured }) => {
    if (isMeasured) {
      failed.delete(dbId);
      return;
    }
    const times = (failed.get(dbId) ?? 0) + 1;
    failed.set(dbId, times);
    if (times === FAILED_IN_A_ROW)
      log.warn({ dbId, times }, 'a volume could not be measured several times: its size is not enforced');
  };
}

type Count = (measuring: (withinSeconds?: number) => Promise<Use>) => Promise<Use>;

/** Gives a measurement the engine's own limit, or little time while many others have that. */
function limitedCounts(): Count {
  let long = 0;
  return async (measuring) => {
    if (long === LONG_COUNTS) return await measuring(LATE_SECONDS);
    long += 1;
    return await measuring().finally(() => {
      long -= 1;
    });
  };
}

/** A volume's count may take two minutes, so the layer is judged and recorded first. */
async function measureAndJudge(
  deps: UpkeepDeps,
  row: Container,
  { note, count }: { readonly note: Note; readonly count: Count },
): Promise<void> {
  const layer = await readLayer(deps, row);
  await recordUse(deps, row, { quota: row.diskQuota, usedMb: row.diskUsedMb, isMeasured: false, layer });
  const reason = layerFault(row, layer);
  if (reason !== null) return await stopForDisk(deps, row, reason);
  const use = await count((withinSeconds) => measure(deps, row, { withinSeconds, isWithoutLayer: true }));
  note(row, use);
  const { diskMb } = row.resources;
  if (use.usedMb !== null && judgeDisk(use.quota, use.usedMb, diskMb) === 'stop')
    await stopForDisk(deps, row, overQuotaReason(use.usedMb, diskMb));
}

/** The reason to stop it because of its layer, or null. */
export const layerFault = (
  { layerAllowedMb: allowedMb }: Container,
  layer: LayerUse | null = null,
): string | null =>
  layer !== null && layerMb(layer) > allowedMb ? overLayerReason(layerMb(layer), allowedMb) : null;

export const stopForDisk = (
  deps: UpkeepDeps,
  row: Container,
  reason: string,
  graceSeconds = STOP_GRACE_SECONDS,
): Promise<void> => stopWithReason(deps, row, { reason, graceSeconds });
