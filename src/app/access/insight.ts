import type { Readable } from 'node:stream';
import type { Caller } from '../../domain/caller.ts';
import { withCarried } from '../../domain/carried.ts';
import { type LossReport, lossReport } from '../../domain/changes.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { Resources } from '../../domain/resources.ts';
import { ok, type Result } from '../../domain/result.ts';
import type { ContainerInsight, ContainerUsage, LogRequest } from '../../ports/container-insight.ts';
import type { RuntimeHandle } from '../../ports/container-runtime.ts';
import { layerAllowanceMb } from '../containers/room.ts';
import { type AccessDeps, findInside, findRunning, whereRunning } from './inside.ts';

/** The log of a container, running or not. Whoever goes away must destroy it. */
export const readLogs =
  (deps: AccessDeps) =>
  async (id: string, request: LogRequest, caller: Caller): Promise<Result<Readable, DomainError>> => {
    const found = await findInside(deps, id, caller);
    return found.ok ? await whereRunning(deps.insight.logs(found.value.handle, request).then(ok)) : found;
  };

export type UsageBesideLimits = ContainerUsage & {
  readonly limits: Resources;
  /** Outside the volume, as it was last looked at. */
  readonly layer: { readonly usedMb: number | null; readonly allowedMb: number | null };
};

/** What a running container uses now, beside what it may use. */
export const readUsage =
  (deps: AccessDeps) =>
  async (id: string, caller: Caller): Promise<Result<UsageBesideLimits, DomainError>> => {
    const found = await findRunning(deps, id, caller, 'read');
    if (!found.ok) return found;
    const { container, handle } = found.value;
    const usage = await whereRunning<ContainerUsage>(deps.insight.usage(handle).then((value) => ok(value)));
    if (!usage.ok) return usage;
    const layer = {
      usedMb: container.layerUsedMb,
      allowedMb: await layerAllowanceMb(deps.storage.repositories, container.ownerId),
    };
    return ok({ ...usage.value, limits: container.resources, layer });
  };

/** What this container has outside its volume that the image that it was made of has not. */
export const lossesOf = async (
  insight: Pick<ContainerInsight, 'changes'>,
  handle: RuntimeHandle,
): Promise<LossReport> => lossReport(await insight.changes(handle));

/** What a recreate of the caller's container, running or not, would lose: also what was carried over before. */
export const readChanges =
  (deps: AccessDeps) =>
  async (id: string, caller: Caller): Promise<Result<LossReport, DomainError>> => {
    const found = await findInside(deps, id, caller);
    if (!found.ok) return found;
    const { container, handle } = found.value;
    const changes = await whereRunning<LossReport>(lossesOf(deps.insight, handle).then((value) => ok(value)));
    if (!changes.ok) return changes;
    return ok(withCarried(changes.value, await deps.storage.repositories.carried.find(container.dbId)));
  };
