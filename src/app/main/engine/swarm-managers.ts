import { type Manager, OtherSwarm } from '../../../adapters/swarm/client/manager.ts';
import { inOtherSwarms, managersOf, NoManager } from '../../../adapters/swarm/client/manager-address.ts';
import type { PartState } from '../../../domain/service/health.ts';
import { RuntimeBusy, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';

/** Whether a manager is silent, where there are others, or now in another swarm. A busy one is not silent. */
export const mustLeave = (manager: Manager, hasOthers: boolean): Promise<boolean> =>
  manager.requireOwn().then(
    () => false,
    (error: unknown) =>
      error instanceof OtherSwarm ||
      (hasOthers && error instanceof RuntimeUnavailable && !(error instanceof RuntimeBusy)),
  );

/** The address after this one. */
export function behind(endpoint: string, endpoints: readonly string[]): string {
  const all = managersOf(endpoints);
  return all[(all.indexOf(endpoint) + 1) % all.length] ?? endpoint;
}

/** The health of a Swarm that cannot be used. */
export const faultState = (error: unknown): PartState =>
  error instanceof NoManager && inOtherSwarms(error.faults).length > 0 ? OTHER_SWARM : NOT_USABLE;

export const NOT_USABLE = {
  status: 'degraded',
  detail: 'the Swarm is not usable',
  reason: 'unusable',
  mend: 'see the log, and docs/swarm.md',
} as const;

const OTHER_SWARM = {
  status: 'degraded',
  detail: 'a manager is in another Swarm than the containers, and no other manager can be used',
  reason: 'unusable',
  mend: 'see the log, and docs/swarm.md#more-than-one-manager',
} as const;
