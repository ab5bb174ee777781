import { type Container, nameFaults } from '../../domain/containers/container.ts';
import type { LossReport } from '../../domain/containers/layer/loss-report.ts';
import { needsFresh } from '../../domain/containers/operation.ts';
import { type Resources, resourceFaults } from '../../domain/containers/resources.ts';
import type { FieldFaults } from '../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../domain/identity/caller.ts';
import { guestExpired } from '../../domain/identity/user.ts';
import { ok, refuse } from '../../domain/result.ts';
import type { Repositories } from '../../ports/storage.ts';
import type { AsyncResult } from '../async-result.ts';
import type { ContainerDeps } from './container-deps.ts';
import { type Acted, endHung } from './container-lifecycle.ts';
import { tierOf } from './container-limits.ts';
import { carryOverFaults, checkHostDisk, diskFaults } from './disk-quota.ts';
import { findOwn, findOwnInEngine } from './find-container.ts';
import type { Prepare } from './operations/begin-operation.ts';
import { engineRefusal } from './operations/engine-refusal.ts';
import { isUnderWay, pinged } from './operations/operation-deps.ts';

export type UpdateRequest = {
  readonly name: string;
  readonly resources: Resources;
  /** Keep what was installed outside the volume. */
  readonly carryOver: boolean;
};

export type Updated = Acted & {
  readonly restarted: boolean;
  /** What a recreate lost; null when unknown. Absent when nothing was lost. */
  readonly leftBehind?: LossReport | null;
};

/**
 * New name and limits, all or nothing. New limits recreate the container on the same volume, running; the old one stays
 * until the new one is verified and the row written. A stopped one on a node in maintenance stays stopped.
 */
export const updateContainer =
  (deps: ContainerDeps) =>
  async (id: string, request: UpdateRequest, caller: Caller, origin: RequestOrigin): AsyncResult<Updated> => {
    const { repositories } = deps.storage;
    const answers = pinged(deps);
    const found = await findOwnInEngine(repositories, id, caller);
    if (!found.ok) return found;
    const { dbId } = found.value;
    const { name, resources, carryOver } = request;
    const operationRequest = { kind: 'update', caller, origin, carryOver } as const;
    const renews = needsFresh({ before: found.value, target: { name, resources } });
    const carry = renews && carryOver ? await carryOverFaults(deps, found.value) : {};
    const disk = renews ? await diskFaults(deps, found.value, resources.diskMb) : {};
    const space = renews ? await checkHostDisk(deps) : ok(null);
    const known = { ...disk, ...carry };
    if (renews && space.ok) await endHungUnless(deps, found.value, request, caller, known);
    const prepare: Prepare = async (tx) => {
      await tx.users.lock(caller.user.id);
      const now = await findOwn(tx, dbId, caller);
      if (!now.ok) return now;
      const fields = { ...carry, ...disk, ...(await faults(tx, now.value, request, caller)) };
      if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
      const restarts = needsFresh({ before: now.value, target: request });
      if (restarts && guestExpired(caller.user, deps.clock.now()))
        return refuse({ code: 'guest_session_expired' });
      if (!space.ok) return space;
      return ok({ container: now.value, target: { name, resources } });
    };
    const done = await deps.operations
      .submit(dbId, operationRequest, prepare, { answers })
      .catch(engineRefusal);
    if (!done.ok) return done;
    const { container, operation } = done.value;
    const underWay = isUnderWay(done.value);
    if (underWay || !needsFresh(operation)) return ok({ container, underWay, restarted: false });
    const { layerImage, leftBehind } = operation;
    const restarted = container.state === 'running';
    return ok({ container, underWay, restarted, ...(layerImage === null ? { leftBehind } : {}) });
  };

/** A refused change must not kill anything. */
async function endHungUnless(
  deps: Pick<ContainerDeps, 'storage' | 'runtime' | 'log'>,
  container: Container,
  request: UpdateRequest,
  caller: Caller,
  known: FieldFaults,
): Promise<void> {
  const fields = { ...known, ...(await faults(deps.storage.repositories, container, request, caller)) };
  if (Object.keys(fields).length === 0) await endHung(deps, container);
}

/** All faults; the container's own present name is not taken. */
async function faults(
  tx: Repositories,
  container: Container,
  { name, resources }: UpdateRequest,
  caller: Caller,
): Promise<FieldFaults> {
  const malformed = nameFaults(name);
  const checks = Object.keys(malformed).length === 0 && name !== container.name;
  const taken = checks && (await tx.containers.nameInUse(caller.user.id, name));
  return {
    ...malformed,
    ...(taken ? { name: 'is already in use' } : {}),
    ...resourceFaults(resources, await tierOf(tx, caller)),
  };
}
