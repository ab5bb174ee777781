import type { AuditAction } from '../../../domain/audit.ts';
import {
  type Agent,
  type AgentEffect,
  type AgentEvent,
  nextAgent,
} from '../../../domain/containers/agents/agent.ts';
import { CONTAINER_STATES, type Container } from '../../../domain/containers/container.ts';
import { containerEvent, type EventType } from '../../../domain/events.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import type { StateChange } from '../../../ports/containers/container-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';

type Recorded = Extract<AgentEffect, { do: 'record' }>['what'];
type Closing = Extract<AgentEffect, { do: 'close' }>;

const RECORDS: {
  readonly [W in Recorded]: {
    readonly audit: AuditAction;
    readonly event: EventType;
    readonly change: StateChange;
  };
} = {
  connected: {
    audit: 'agent_connected',
    event: 'agent_connected',
    change: { state: 'running' },
  },
  disconnected: { audit: 'agent_disconnected', event: 'agent_disconnected', change: { state: 'stopped' } },
  stopped: { audit: 'agent_stopped', event: 'agent_disconnected', change: { state: 'stopped' } },
  deleted: { audit: 'agent_deleted', event: 'container_deleted', change: { state: 'deleted' } },
};

export type WrittenAgent = {
  readonly agent: Agent;
  /** The container's new row; null when it did not change. */
  readonly container: Container | null;
  /** To be closed after the commit. */
  readonly closing: readonly Closing[];
};

/**
 * Writes an event of an agent: its state, its container's row, the audit record and the event, in the caller's
 * transaction, which has locked the agent.
 */
export async function writeAgent(
  tx: Repositories,
  before: Agent,
  event: AgentEvent,
  origin: RequestOrigin,
): Promise<WrittenAgent> {
  const { state, effects } = nextAgent(before.state, event);
  const agent = { ...before, state };
  await tx.agents.put(agent);
  const closing = effects.filter((effect) => effect.do === 'close');
  const record = effects.find((effect) => effect.do === 'record');
  if (record === undefined) return { agent, container: null, closing };
  const { audit, event: type, change } = RECORDS[record.what];
  const container = await tx.containers.changeState(agent.dbId, CONTAINER_STATES, change);
  if (container === null) throw new Error(`the row of agent ${agent.dbId} is gone`);
  await tx.audit.append({ userId: agent.ownerId, action: audit, ...origin, details: agent.dbId });
  await tx.events.append(containerEvent(type, container));
  return { agent, container, closing };
}
