import type { Container } from '../../../domain/containers/container.ts';
import {
  findHogs,
  type Hog,
  hogReason,
  type OwnedShare,
  shortCounters,
} from '../../../domain/containers/kernel-share.ts';
import type { KernelShares } from '../../../ports/containers/kernel-shares.ts';
import { BY_BERTH } from '../../by-berth.ts';
import type { UpkeepDeps } from '../container-deps.ts';
import { stopWithReason } from './stop-with-reason.ts';

/** A container that takes from all others gets little grace. */
const STOP_GRACE_SECONDS = 1;

/** Reads the kernel's counters and stops containers that exhaust them; for a timer. */
export const watchKernelShares = (deps: UpkeepDeps, shares: KernelShares) => async (): Promise<void> => {
  const reading = await shares.read();
  if (reading === null || shortCounters(reading).length === 0) return;
  const rows = await deps.storage.repositories.containers.listAllLive();
  const running = new Map(rows.map((row) => [row.runtimeId, row]));
  const owned = reading.shares.flatMap((share): OwnedShare[] => {
    const row = running.get(share.runtimeId);
    return row === undefined ? [] : [{ ...share, ownerId: row.ownerId }];
  });
  const hogs = findHogs(reading, owned);
  const others = shortCounters(reading).filter((name) => !hogs.some(({ counter }) => counter === name));
  if (others.length > 0)
    deps.log.warn(
      { counters: others },
      'shared kernel limits are nearly exhausted, but no container uses much of them',
    );
  await Promise.all(hogs.map((hog) => stop(deps, running.get(hog.runtimeId), hog)));
};

async function stop(deps: UpkeepDeps, row: Container | undefined, hog: Hog): Promise<void> {
  if (row === undefined) return;
  const { counter, used, limit } = hog;
  const details = JSON.stringify({ container_id: row.dbId, counter, used, limit });
  await stopWithReason(deps, row, {
    reason: hogReason(hog),
    graceSeconds: STOP_GRACE_SECONDS,
    record: {
      ...BY_BERTH,
      userId: row.ownerId,
      action: 'container_over_share',
      details,
    },
  });
}
