import type { AgentDeps } from './agent-deps.ts';
import { agentSync } from './agent-sync.ts';
import { admitAgent, connectAgent, mayStay } from './connect-agent.ts';
import { forgetAgent, lostAgent, startAgent, stopAgent } from './end-agent.ts';

export type Agents = ReturnType<typeof agents>;
/** What the use cases of containers do with agents. */
export type OfAgents = Pick<Agents, 'start' | 'stop' | 'forget'>;

/** Machines of users' own, which connect to the service and are used like containers. */
export const agents = (deps: AgentDeps, monotonicMs: () => number) => ({
  admit: admitAgent(deps),
  connect: connectAgent(deps),
  mayStay: mayStay(deps),
  lost: lostAgent(deps),
  start: startAgent,
  stop: stopAgent(deps),
  forget: forgetAgent(deps),
  ...agentSync(deps, monotonicMs),
});
