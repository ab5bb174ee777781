import type { Bus } from '../../../ports/bus.ts';

const TOPIC = 'agent';

/** Call it after the commit: the process with the agent's connection must check it. */
export const publishAgentChange = (bus: Bus, dbId: string): void => bus.publish(TOPIC, { dbId });

/** `check`: of this agent, or null for all. */
export function subscribeToAgentChanges(bus: Bus, check: (dbId: string | null) => void): void {
  bus.subscribe(
    TOPIC,
    ({ dbId }) => check(typeof dbId === 'string' ? dbId : null),
    () => check(null),
  );
}
