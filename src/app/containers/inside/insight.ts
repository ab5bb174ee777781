import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { fairTurns } from '../../../concurrency/slot-queue.ts';
import { withLayerImage } from '../../../domain/containers/layer/carry-over.ts';
import { type LossReport, lossSteps } from '../../../domain/containers/layer/loss-report.ts';
import type { Resources } from '../../../domain/containers/resources.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerInsight,
  ContainerUsage,
  LogRequest,
} from '../../../ports/containers/inside/container-insight.ts';
import type { AsyncResult } from '../../async-result.ts';
import { type AccessDeps, findRunning, findWithHandle, refuseIfStopped } from './running-container.ts';

/** The log of a container, running or not. A caller that leaves must destroy it. */
export const readLogs =
  (deps: AccessDeps) =>
  async (id: string, request: LogRequest, caller: Caller): AsyncResult<Readable> => {
    const found = await findWithHandle(deps, id, caller);
    return found.ok ? await refuseIfStopped(deps.insight.logs(found.value.handle, request).then(ok)) : found;
  };

export type UsageBesideLimits = ContainerUsage & {
  readonly limits: Resources;
  /** Outside the volume, at the last measurement. */
  readonly layer: { readonly usedMb: number | null; readonly allowedMb: number };
};

/** A running container's use and limits. */
export const readUsage =
  (deps: AccessDeps) =>
  async (id: string, caller: Caller): AsyncResult<UsageBesideLimits> => {
    const found = await findRunning(deps, id, caller, 'read');
    if (!found.ok) return found;
    const { container, handle } = found.value;
    const usage = await refuseIfStopped<ContainerUsage>(
      deps.insight.usage(handle).then((value) => ok(value)),
    );
    if (!usage.ok) return usage;
    const layer = { usedMb: container.layerUsedMb, allowedMb: container.layerAllowedMb };
    return ok({ ...usage.value, limits: container.resources, layer });
  };

/** What this container has outside its volume beyond the image that it was made of. */
export async function lossesOf(
  insight: Pick<ContainerInsight, 'changes'>,
  handle: RuntimeHandle,
): Promise<LossReport> {
  const steps = lossSteps(await insight.changes(handle));
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    await setImmediate();
  }
}

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;
/** Comparing a container with its image uses the engine's own processor time, which no container limit covers. */
const LISTINGS = { maxRunning: 2, maxWaiting: 4 };
const LISTING_RETRY_SECONDS = 5;

type Losses = Result<LossReport, DomainError>;

/**
 * What a recreate of the caller's container, running or not, would lose, including carried-over data. Cached for a
 * minute; one container at a time per user.
 */
export function readChanges(deps: AccessDeps) {
  const known = new LRUCache<string, { readonly atMs: number; readonly losses: Promise<Losses> }>({
    max: MAX_REMEMBERED,
  });
  const turns = fairTurns(LISTINGS);

  function lossesIn(handle: RuntimeHandle, userId: string): Promise<Losses> | null {
    const nowMs = deps.monotonicMs();
    const last = known.get(handle.runtimeId);
    if (last !== undefined && nowMs - last.atMs < REMEMBERED_MS) return last.losses;
    const losses = turns.run(userId, () =>
      refuseIfStopped<LossReport>(lossesOf(deps.insight, handle).then((value) => ok(value))),
    );
    if (losses === null) return null;
    remember(handle.runtimeId, { atMs: nowMs, losses });
    return losses;
  }

  function remember(id: string, entry: { readonly atMs: number; readonly losses: Promise<Losses> }): void {
    known.set(id, entry);
    const forget = (): void => {
      if (known.get(id) === entry) known.delete(id);
    };
    // only successes are cached
    entry.losses.then((found) => found.ok || forget(), forget);
  }

  return async (id: string, caller: Caller): Promise<Losses> => {
    const found = await findWithHandle(deps, id, caller);
    if (!found.ok) return found;
    const { container, handle } = found.value;
    const changes = await lossesIn(handle, caller.user.id);
    if (changes === null) return refuse({ code: 'engine_busy', retryAfterSeconds: LISTING_RETRY_SECONDS });
    if (!changes.ok) return changes;
    return ok(
      withLayerImage(changes.value, await deps.storage.repositories.layerImages.find(container.dbId)),
    );
  };
}
