import type { AgentEnd } from '../../../domain/containers/agents/agent.ts';

/** One connection of an agent. */
export type AgentLine = { readonly dbId: string; readonly epoch: number };

/** The sessions of agents at this process. A session outlives its connection for some minutes. */
export interface AgentLines {
  /** By the newest connection of each. */
  sessions(): readonly AgentLine[];
  /** Closes it with everything that runs over it. Absent is success. */
  end(line: AgentLine, reason: AgentEnd): void;
}
