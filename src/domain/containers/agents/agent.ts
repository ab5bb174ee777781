import type { DomainError } from '../../errors.ts';
import { ok, type Result, refuse, unreachable } from '../../result.ts';

/**
 * A machine of a user's own, connected by a WebSocket that it opened. It is listed as a container whose engine is the
 * machine itself.
 *
 *   (new) --connect--> connected --connection lost--> away        stopped: a user closed the connection;
 *                        ^   |  `----stop----> stopped            away and stopped ones come back by themselves
 *                        `---+---------connect----'
 *   any --forget--> forgotten
 *
 * Connections have numbers, so that the late end of a replaced one changes nothing.
 */
export type AgentState =
  | { readonly kind: 'connected'; readonly epoch: number; readonly replica: string }
  | { readonly kind: 'away' | 'stopped' | 'forgotten'; readonly epoch: number };

export type Agent = {
  readonly dbId: string;
  readonly ownerId: string;
  /** The machine's own id. */
  readonly machineId: string;
  readonly platform: string;
  readonly state: AgentState;
};

/** What an agent has and a container has not. */
export type AgentFacts = { readonly platform: string; readonly lastSeenAt: Date };

export const AGENT_NODE = 'agent';
export const isAgent = ({ node }: { readonly node: string }): boolean => node === AGENT_NODE;
export const agentRuntimeId = (dbId: string): string => `agent:${dbId}`;

/** How long the terminals of a lost agent wait for it. */
export const AGENT_AWAY_SECONDS = 300;
/** A connection whose process renewed it no later than this is gone with its process. */
export const AGENT_SILENT_SECONDS = 75;

export type AgentEvent =
  | { readonly type: 'connect'; readonly replica: string }
  | { readonly type: 'lost'; readonly epoch: number }
  | { readonly type: 'stop' }
  | { readonly type: 'forget' };

/** Why a connection closes. `moved`: the agent is at another process. `lost`: this process was taken for dead. */
export type AgentEnd = 'replaced' | 'moved' | 'stopped' | 'forgotten' | 'lost';

export type AgentEffect =
  /** Closes a connection, in this process or another. */
  | { readonly do: 'close'; readonly epoch: number; readonly replica: string; readonly reason: AgentEnd }
  /** Writes the container's new state, the audit record and the event. */
  | { readonly do: 'record'; readonly what: 'connected' | 'disconnected' | 'stopped' | 'deleted' };

export type AgentStep = { readonly state: AgentState; readonly effects: readonly AgentEffect[] };

/** The state of one that has never connected. */
export const NEW_AGENT: AgentState = { kind: 'away', epoch: 0 };

/** The next state of an agent, and its effects. Late events change nothing. */
export function nextAgent(state: AgentState, event: AgentEvent): AgentStep {
  if (state.kind === 'forgotten') return step(state);
  switch (event.type) {
    case 'connect': {
      const connected = { kind: 'connected', epoch: state.epoch + 1, replica: event.replica } as const;
      if (state.kind === 'connected') return step(connected, ...closing(state, 'replaced'));
      return step(connected, { do: 'record', what: 'connected' });
    }
    case 'lost':
      if (state.kind !== 'connected' || state.epoch !== event.epoch) return step(state);
      return step({ kind: 'away', epoch: state.epoch }, { do: 'record', what: 'disconnected' });
    case 'stop': {
      if (state.kind === 'stopped') return step(state);
      const stopped = { kind: 'stopped', epoch: state.epoch } as const;
      // One that is away waits no longer, and nothing is announced.
      if (state.kind === 'away') return step(stopped);
      return step(stopped, { do: 'record', what: 'stopped' }, ...closing(state, 'stopped'));
    }
    case 'forget':
      return step(
        { kind: 'forgotten', epoch: state.epoch },
        { do: 'record', what: 'deleted' },
        ...closing(state, 'forgotten'),
      );
    default:
      return unreachable(event);
  }
}

const step = (state: AgentState, ...effects: readonly AgentEffect[]): AgentStep => ({ state, effects });

const closing = (state: AgentState, reason: AgentEnd): readonly AgentEffect[] =>
  state.kind === 'connected' ? [{ do: 'close', epoch: state.epoch, replica: state.replica, reason }] : [];

/** Whether another agent fits beside `live` ones. */
export const checkAgentLimit = (live: number, max: number): Result<null, DomainError> =>
  live < max ? ok(null) : refuse({ code: 'agent_limit_reached', max });
