import type { AgentHub } from '../../../adapters/agents/index.ts';
import { agentRoutes } from '../../../adapters/http/routes/containers/agents.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { agentSocket } from '../../../adapters/websocket/agents/agent-socket.ts';
import { endSharesOf } from '../../collaboration/collaboration-effects.ts';
import { type Agents, agents } from '../../containers/agents/agents.ts';
import { enrolments } from '../../containers/agents/enrolments.ts';
import type { Terminals } from '../../terminals/terminals.ts';
import type { AllPorts, ComposeOptions } from '../compose-options.ts';
import type { SharedServices } from './shared-services.ts';

export type AgentWork = Pick<Agents, 'begin' | 'checkConnections'> & {
  /** The service stops: terminals that end leave their shells in the agents. */
  readonly leaveShells: () => void;
  /** Asks the agents to come back. */
  readonly leave: () => void;
  /** Waits until the end of each closed connection is on record. */
  readonly idle: () => Promise<void>;
};

/** Agents: their connections, codes to install them, and their use as containers. */
export function wireAgents(
  { storage, bus, clock, metrics, monotonicMs }: AllPorts,
  { logger: log, replica }: ComposeOptions,
  {
    hub,
    authorizedConnections: live,
    terminals,
  }: SharedServices & { readonly hub: AgentHub; readonly terminals: Terminals },
) {
  const { closeAll, noticeAll } = terminals;
  const work = agents(
    {
      storage,
      bus,
      clock,
      log,
      replica,
      lines: hub,
      terminals: { closeAll, noticeAll, endShares: endSharesOf },
    },
    monotonicMs,
  );
  metrics.watch('agents_connected', () => hub.count());
  const ends = new Set<Promise<void>>();
  const lost: Agents['lost'] = (line) => {
    const writing = work.lost(line).finally(() => ends.delete(writing));
    ends.add(writing);
    return writing;
  };
  const socket: Routes = ({ sockets }) =>
    agentSocket(sockets, { agents: { ...work, lost }, sessions: hub, live, log });
  return {
    agents: work,
    routes: [agentRoutes(enrolments({ storage, clock })), socket],
    work: {
      begin: work.begin,
      checkConnections: work.checkConnections,
      leaveShells: () => hub.leaveShells(),
      leave: () => hub.leave(),
      idle: async () => void (await Promise.allSettled(ends)),
    } satisfies AgentWork,
  };
}
