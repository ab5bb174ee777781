import { type Manager, OtherSwarm } from '../../../adapters/swarm/client/manager.ts';
import { inOtherSwarms, NoManager, orDefaultSocket } from '../../../adapters/swarm/client/manager-address.ts';
import { swarmHealth } from '../../../adapters/swarm/insight/swarm-health.ts';
import type { Swarm } from '../../../adapters/swarm/swarm.ts';
import type { PartState } from '../../../domain/service/health.ts';
import { RuntimeBusy, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { EngineNotChosen } from './swarm-record.ts';

/**
 * Whether to switch: the manager is in another swarm, or it does not answer and another address is configured. A busy
 * manager counts as answering.
 */
export const mustSwitchManager = (manager: Manager, hasOtherAddress: boolean): Promise<boolean> =>
  manager.requireOwn().then(
    () => false,
    (error: unknown) =>
      error instanceof OtherSwarm ||
      (hasOtherAddress && error instanceof RuntimeUnavailable && !(error instanceof RuntimeBusy)),
  );

/** The next address in the list, wrapping around. */
export function nextAddress(endpoint: string, endpoints: readonly string[]): string {
  const all = orDefaultSocket(endpoints);
  return all[(all.indexOf(endpoint) + 1) % all.length] ?? endpoint;
}

/** The health of a Swarm in use: that of its nodes. */
export async function engineState(swarm: Swarm, endpoint: string): Promise<PartState> {
  const { detail, faults } = await swarmHealth(swarm);
  const all = `Swarm at ${endpoint}: ${detail}`;
  return faults.length === 0
    ? { status: 'ready', detail: all }
    : {
        status: 'degraded',
        detail: [all, ...faults.map(({ words }) => words)].join('; '),
        reason: 'unusable',
        mend: faults.map(({ mend }) => mend).join('; '),
      };
}

/** The health of a Swarm that cannot be used. */
export function faultState(error: unknown): PartState {
  if (error instanceof EngineNotChosen) return { ...NOT_USABLE, mend: error.mend };
  return error instanceof NoManager && inOtherSwarms(error.faults).length > 0 ? OTHER_SWARM : NOT_USABLE;
}

export const NOT_USABLE = {
  status: 'degraded',
  detail: 'the Swarm is not usable',
  reason: 'unusable',
  mend: 'see the log, and docs/swarm.md',
} as const;

const OTHER_SWARM = {
  status: 'degraded',
  detail: "no manager of the containers' Swarm answers; a configured manager has joined another Swarm",
  reason: 'unusable',
  mend: 'see the log, and docs/swarm.md#more-than-one-manager',
} as const;
