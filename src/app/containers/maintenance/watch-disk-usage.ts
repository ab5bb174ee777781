import { forEachAtMost } from '../../../concurrency/pool.ts';
import { eachWithin } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { judgeDisk, overQuotaReason } from '../../../domain/containers/disk-quota.ts';
import { layerMb, overLayerReason } from '../../../domain/containers/layer/layer-usage.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { UpkeepDeps } from '../container-deps.ts';
import { measure, type Use } from '../disk-quota.ts';
import { stopWithReason } from './stop-with-reason.ts';

/** A little less than the minute between two passes. */
const MEASURED_AGAIN_AFTER_SECONDS = 50;
const AT_A_TIME = 4;
/** A pass does not wait longer for a container, whose own shell may count its files and never answer. */
const LATE_MS = 10_000;
/** One statement claims these. Other processes find the rest, so all of them measure. */
const CLAIMED_AT_ONCE = 100;
/** A pass that takes longer ends; the next one continues with those that were measured longest ago. */
const PASS_MS = 60_000;
const STOP_GRACE_SECONDS = 10;

/**
 * Measures running containers' volumes not measured for a minute, and stops containers too far above a soft size. Does
 * nothing while the engine is silent.
 */
export function watchDiskUsage(deps: UpkeepDeps): () => Promise<void> {
  const measureInTime = eachWithin(
    LATE_MS,
    ({ dbId }: Container) => dbId,
    (row) =>
      measureAndJudge(deps, row).catch((err: unknown) => {
        if (!(err instanceof RuntimeUnavailable)) deps.log.warn({ err }, 'a volume could not be measured');
      }),
  );
  /** Returns how many it has claimed. */
  const measureDue = async (): Promise<number> => {
    const { diskUse } = deps.storage.repositories;
    const due = await diskUse.claimDue(MEASURED_AGAIN_AFTER_SECONDS, CLAIMED_AT_ONCE);
    await forEachAtMost(AT_A_TIME, due, measureInTime);
    return due.length;
  };
  return async () => {
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
}

async function measureAndJudge(deps: UpkeepDeps, row: Container): Promise<void> {
  const use = await measure(deps, row);
  const { diskMb } = row.resources;
  if (use.usedMb !== null && judgeDisk(use.quota, use.usedMb, diskMb) === 'stop')
    return await stopForDisk(deps, row, overQuotaReason(use.usedMb, diskMb));
  const reason = layerFault(row, use);
  if (reason !== null) await stopForDisk(deps, row, reason);
}

/** The reason to stop it because of its layer, or null. */
export const layerFault = ({ layerAllowedMb: allowedMb }: Container, { layer = null }: Use): string | null =>
  layer !== null && layerMb(layer) > allowedMb ? overLayerReason(layerMb(layer), allowedMb) : null;

export const stopForDisk = (
  deps: UpkeepDeps,
  row: Container,
  reason: string,
  graceSeconds = STOP_GRACE_SECONDS,
): Promise<void> => stopWithReason(deps, row, { reason, graceSeconds });
