import type { Agent } from '../../../domain/containers/agents/agent.ts';

/** What is stored of agents beside their rows in `ContainerRepository`. */
export interface AgentRepository {
  /** The user's agent for that machine, unless forgotten; locked until the transaction ends. */
  findByMachine(ownerId: string, machineId: string): Promise<Agent | null>;
  /** Forgotten ones too. */
  find(dbId: string): Promise<Agent | null>;
  /** The same, locked until the transaction ends. */
  findForUpdate(dbId: string): Promise<Agent | null>;
  /** Exact while the user's row is locked. */
  countLive(ownerId: string): Promise<number>;
  /** Writes it, seen now if it is connected. Its container's row must exist; that of a forgotten one becomes one without a volume. */
  put(agent: Agent): Promise<void>;
  /** These connections of this process are alive now. */
  seen(replica: string, dbIds: readonly string[]): Promise<void>;
  /** The agents that are connected to this process, by their rows. */
  connectedTo(replica: string): Promise<readonly Agent[]>;
  /** Those connected to processes that no longer renew them. */
  unattended(silentSeconds: number): Promise<readonly Agent[]>;
}
