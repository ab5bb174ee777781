import type { Agent, AgentEvent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { AgentLine } from '../../../ports/containers/agents/agent-lines.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { recordEnd } from '../../identity/account/token-records.ts';
import type { AgentDeps } from './agent-deps.ts';
import { publishAgentChange } from './agent-messages.ts';
import { type WrittenAgent, writeAgent } from './write-agent.ts';

const NOWHERE: RequestOrigin = { ipAddress: '', userAgent: '' };

/** After the commit: closes the connections that have ended, here or in their processes. */
export function carryOut({ bus, lines, replica }: AgentDeps, { agent, closing }: WrittenAgent): void {
  for (const { epoch, replica: at, reason } of closing) {
    if (at === replica) lines.end({ dbId: agent.dbId, epoch }, reason);
    else publishAgentChange(bus, agent.dbId);
  }
}

const write = async (
  { storage }: AgentDeps,
  dbId: string,
  event: AgentEvent,
  origin: RequestOrigin,
): Promise<WrittenAgent | null> =>
  await storage.inTransaction(async (tx) => {
    const agent = await tx.agents.findForUpdate(dbId);
    return agent === null ? null : await writeAgent(tx, agent, event, origin);
  });

/** A connection has ended by itself: the agent's terminals wait for it. */
export const lostAgent =
  (deps: AgentDeps) =>
  async ({ dbId, epoch }: AgentLine): Promise<void> => {
    const written = await write(deps, dbId, { type: 'lost', epoch }, NOWHERE);
    if (written?.container)
      deps.terminals.noticeAll(
        dbId,
        'The machine is not connected. The terminal waits for it for five minutes.',
      );
  };

/** Only the machine can connect. A start of a connected agent changes nothing. */
export const startAgent = (container: Container): Result<Container, DomainError> =>
  container.state === 'running' ? ok(container) : refuse({ code: 'agent_not_connected' });

/** Closes the connection and its terminals. The machine is unaffected and may come back by itself. */
export const stopAgent =
  (deps: AgentDeps) =>
  async (container: Container, origin: RequestOrigin): AsyncResult<Container> => {
    const { dbId } = container;
    const written = await write(deps, dbId, { type: 'stop' }, origin);
    if (written === null) return refuse({ code: 'container_not_found' });
    deps.terminals.closeAll(dbId, CLOSE.containerStopped);
    carryOut(deps, written);
    return ok(written.container ?? container);
  };

/** The tokens that reach nothing but this machine, among them that of its enrolment. The user's row is locked. */
async function revokeTokensOf(
  tx: Repositories,
  { ownerId, machineId }: Agent,
  origin: RequestOrigin,
): Promise<void> {
  const owned = await tx.tokens.listOwned(ownerId);
  const ofMachine = owned.filter(({ containers }) => containers?.length === 1 && containers[0] === machineId);
  // From the top, so that each descendant ends with its parent, on record.
  for (const { id } of ofMachine.toSorted((a, b) => a.depth - b.depth)) {
    const done = await tx.tokens.revoke(id, ownerId);
    if (done?.changed) await recordEnd(tx, 'token_revoked', done, origin);
  }
}

/** Forgets the agent for good: nothing of it is kept, and there is no restore. */
export const forgetAgent =
  (deps: AgentDeps) =>
  async (container: Container, origin: RequestOrigin): AsyncResult<Container> => {
    const { dbId, ownerId } = container;
    const written = await deps.storage.inTransaction(async (tx) => {
      // First, so that no token of the machine is made meanwhile.
      await tx.users.lock(ownerId);
      const agent = await tx.agents.findForUpdate(dbId);
      if (agent === null || agent.state.kind === 'forgotten') return null;
      const done = await writeAgent(tx, agent, { type: 'forget' }, origin);
      await deps.terminals.endShares(tx, dbId, origin);
      await revokeTokensOf(tx, agent, origin);
      return done;
    });
    if (written === null) return refuse({ code: 'container_not_found' });
    deps.terminals.closeAll(dbId, CLOSE.containerDeleted);
    carryOut(deps, written);
    return ok(written.container ?? container);
  };
