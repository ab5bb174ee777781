import type { Container } from '../../../domain/containers/container.ts';
import type { Activity } from '../../../domain/containers/lifetime/activity.ts';
import { explainLifetime } from '../../../domain/containers/lifetime/explain-lifetime.ts';
import {
  changesNothing,
  endFaults,
  type LifetimeLimits,
  type LifetimeRequest,
  lifetimeFaults,
} from '../../../domain/containers/lifetime/lifetime.ts';
import { containerEvent } from '../../../domain/events.ts';
import type { FieldFaults } from '../../../domain/field-faults.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { LivingContainer } from '../../../ports/containers/lifetime/lifetime-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { tierOf } from '../container-limits.ts';
import { findOwnInEngine } from '../find-container.ts';

/** A container's lifetime, the uses that count for it, and an explanation of its end in words. */
export type ExplainedLifetime = {
  readonly container: Container;
  readonly activity: readonly Activity[];
  readonly wouldStop: string;
};

/** When and why the caller's container ends by itself. */
export const readLifetime =
  ({ storage: { repositories } }: Pick<ContainerDeps, 'storage'>) =>
  async (id: string, caller: Caller): AsyncResult<ExplainedLifetime> => {
    const found = await findOwnInEngine(repositories, id, caller);
    return found.ok ? await explained(repositories, found.value.dbId) : found;
  };

type Change = {
  readonly request: LifetimeRequest;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
};

/** Changes when the caller's container ends. Absent fields stay. */
export const changeLifetime =
  ({ storage, clock }: Pick<ContainerDeps, 'storage' | 'clock'>) =>
  async (
    id: string,
    request: LifetimeRequest,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<ExplainedLifetime> => {
    const found = await findOwnInEngine(storage.repositories, id, caller);
    if (!found.ok) return found;
    if (guestExpired(caller.user, clock.now())) return refuse({ code: 'guest_session_expired' });
    const { dbId } = found.value;
    return await storage.inTransaction((tx) => changeLocked(tx, dbId, { request, caller, origin }));
  };

async function changeLocked(
  tx: Repositories,
  dbId: string,
  { request, caller, origin }: Change,
): AsyncResult<ExplainedLifetime> {
  const living = await tx.lifetimes.findForUpdate(dbId);
  // It may have been given away before the lock.
  const own = await findOwnInEngine(tx, dbId, caller);
  if (!own.ok) return own;
  if (living === null) return refuse({ code: 'container_not_found' });
  const { lifetime } = living.container;
  const tier = await tierOf(tx, caller);
  const fields = { ...lateEnds(request, living, tier), ...lifetimeFaults(request, lifetime, tier) };
  if (Object.keys(fields).length > 0) return refuse({ code: 'validation_failed', fields });
  if (changesNothing(request, lifetime)) return await explained(tx, dbId);
  const changed = await tx.lifetimes.change(dbId, request);
  if (changed === null) return refuse({ code: 'container_not_found' });
  await tx.audit.append({ userId: caller.user.id, ...origin, action: 'lifetime_changed', details: dbId });
  await tx.events.append(containerEvent('container_updated', changed, false));
  return await explained(tx, dbId);
}

/** A start limits what a stopped container has; an ephemeral one ends while it is stopped, too. */
function lateEnds(
  request: LifetimeRequest,
  { container, now }: LivingContainer,
  tier: LifetimeLimits,
): FieldFaults {
  const { state, lifetime, startedAt, createdAt } = container;
  if (state === 'stopped' && !lifetime.isEphemeral) return {};
  return endFaults(request, lifetime, tier, { startedAt: startedAt ?? createdAt, now });
}

async function explained(
  { lifetimes }: Pick<Repositories, 'lifetimes'>,
  dbId: string,
): AsyncResult<ExplainedLifetime> {
  const living = await lifetimes.findForUpdate(dbId);
  if (living === null) return refuse({ code: 'container_not_found' });
  const { container, now } = living;
  const activity = await lifetimes.activity(dbId);
  return ok({ container, activity, wouldStop: explainLifetime(container, activity, now) });
}
