import { forEachAtMost } from '../../../concurrency/pool.ts';
import { AGENT_SILENT_SECONDS, type Agent, type AgentEnd } from '../../../domain/containers/agents/agent.ts';
import type { AgentLine } from '../../../ports/containers/agents/agent-lines.ts';
import type { AgentDeps } from './agent-deps.ts';
import { subscribeToAgentChanges } from './agent-messages.ts';
import { lostAgent } from './end-agent.ts';

const RECHECK_EVERY_MS = 5_000;
const RENEW_EVERY_MS = 15_000;
const AT_A_TIME = 4;

/**
 * Keeps this process's connections and the database in agreement. A stop, a delete or a newer connection in another
 * process closes the one here; a message makes that quick, and without messages it is found every five seconds.
 */
export function agentSync(deps: AgentDeps, monotonicMs: () => number) {
  const { storage, bus, lines, replica, log } = deps;
  const { agents } = storage.repositories;
  const lost = lostAgent(deps);
  const due = { recheckMs: monotonicMs(), renewMs: monotonicMs() };

  subscribeToAgentChanges(bus, (dbId) => {
    const meant = lines.sessions().filter((line) => dbId === null || line.dbId === dbId);
    recheck(meant).catch((err: unknown) => log.warn({ err }, 'could not check the connections of agents'));
  });

  async function recheck(connected: readonly AgentLine[]): Promise<void> {
    await forEachAtMost(AT_A_TIME, connected, async (line) => {
      const reason = endOf(await agents.find(line.dbId), line, replica);
      if (reason !== null) lines.end(line, reason);
    });
  }

  const disconnect = (gone: readonly Agent[]): Promise<void> =>
    forEachAtMost(AT_A_TIME, gone, ({ dbId, state: { epoch } }) => lost({ dbId, epoch }));

  const isDue = (which: keyof typeof due, everyMs: number): boolean => {
    const nowMs = monotonicMs();
    if (nowMs - due[which] < everyMs) return false;
    due[which] = nowMs;
    return true;
  };

  return {
    /** Call it before the first connects: ends the connections of an earlier run. */
    begin: async (): Promise<void> => disconnect(await agents.connectedTo(replica)),

    /** For a timer: checks this process's connections and renews them, and ends those of dead processes. */
    async checkConnections(): Promise<void> {
      if (isDue('recheckMs', RECHECK_EVERY_MS)) await recheck(lines.sessions());
      if (!isDue('renewMs', RENEW_EVERY_MS)) return;
      await agents.seen(
        replica,
        lines.sessions().map(({ dbId }) => dbId),
      );
      await disconnect(await agents.unattended(AGENT_SILENT_SECONDS));
    },
  };
}

/** Why a connection must close, by the stored state; null when it stays. */
function endOf(agent: Agent | null, { epoch }: AgentLine, replica: string): AgentEnd | null {
  if (agent === null) return 'forgotten';
  const { state } = agent;
  switch (state.kind) {
    case 'connected':
      if (state.epoch <= epoch) return null;
      return state.replica === replica ? 'replaced' : 'moved';
    case 'stopped':
    case 'forgotten':
      return state.kind;
    case 'away':
      return state.epoch < epoch ? null : 'lost';
  }
}
