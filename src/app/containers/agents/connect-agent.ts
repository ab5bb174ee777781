import { randomUUID } from 'node:crypto';
import {
  AGENT_NODE,
  type Agent,
  agentRuntimeId,
  checkAgentLimit,
  isAgent,
  NEW_AGENT,
} from '../../../domain/containers/agents/agent.ts';
import { agentNameAt, cleanAgentName, isNameOf } from '../../../domain/containers/agents/agent-name.ts';
import { CONTAINER_STATES } from '../../../domain/containers/container.ts';
import { containerEvent } from '../../../domain/events.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { AgentLine } from '../../../ports/containers/agents/agent-lines.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import { tierOf } from '../container-limits.ts';
import type { AgentDeps } from './agent-deps.ts';
import { publishAgentChange } from './agent-messages.ts';
import { carryOut } from './end-agent.ts';
import { writeAgent } from './write-agent.ts';

/** What a machine says of itself. */
export type AgentGreeting = {
  readonly machineId: string;
  readonly name: string;
  readonly platform: string;
};

export type ConnectedAgent = AgentLine & { readonly name: string; readonly ownerId: string };

const MAX_PLATFORM = 200;
const NO_RESOURCES = { memoryMb: 0, cpuMillicores: 0, diskMb: 0 };

/** Before the upgrade: whether a machine may connect now. */
export const admitAgent =
  ({ storage: { repositories }, clock }: Pick<AgentDeps, 'storage' | 'clock'>) =>
  async (machineId: string, caller: Caller): AsyncResult<null> => {
    if (!isUuid(machineId)) return refuse({ code: 'validation_failed', fields: { agent: 'must be a UUID' } });
    if (guestExpired(caller.user, clock.now())) return refuse({ code: 'guest_session_expired' });
    const known = await repositories.agents.findByMachine(caller.user.id, machineId.toLowerCase());
    if (known !== null) return ok(null);
    if (await isIdOfAnother(repositories, machineId)) return refuse({ code: 'not_authorized' });
    return await roomForAgent(repositories, caller);
  };

/** Whether the caller, by the present state, may keep a connected machine. */
export const mayStay =
  ({ clock }: Pick<AgentDeps, 'clock'>) =>
  (now: Caller): boolean =>
    !guestExpired(now.user, clock.now());

/**
 * Whether a machine's id is the db id of a container, or of another machine's agent. A token restricted to that id
 * would reach it.
 */
export async function isIdOfAnother(
  { containers, agents }: Pick<Repositories, 'containers' | 'agents'>,
  machineId: string,
): Promise<boolean> {
  const dbId = machineId.toLowerCase();
  const row = await containers.findAny(dbId);
  if (row === null) return false;
  if (!isAgent(row)) return true;
  const agent = await agents.find(dbId);
  return agent !== null && agent.machineId !== dbId;
}

/** Whether the caller's tier has room for another agent. */
export async function roomForAgent(tx: Repositories, caller: Caller): AsyncResult<null> {
  const [{ maxAgents }, live] = await Promise.all([tierOf(tx, caller), tx.agents.countLive(caller.user.id)]);
  return checkAgentLimit(live, maxAgents);
}

/**
 * Writes a machine's new connection to this process, which replaces an older one. An unknown machine becomes a new
 * agent of the caller.
 */
export const connectAgent =
  (deps: AgentDeps) =>
  async (greeting: AgentGreeting, caller: Caller, origin: RequestOrigin): AsyncResult<ConnectedAgent> => {
    const { storage, replica, terminals } = deps;
    const done = await orRollBack(storage.inTransaction, async (tx) => {
      const agent = await agentOf(tx, greeting, caller, origin);
      if (!agent.ok) return agent;
      const name = await nameOf(tx, agent.value, greeting, origin);
      return ok({ ...(await writeAgent(tx, agent.value, { type: 'connect', replica }, origin)), name });
    });
    if (!done.ok) return done;
    const { name, ...written } = done.value;
    carryOut(deps, written);
    if (written.container !== null) {
      // Another process may keep what it had of the agent.
      publishAgentChange(deps.bus, written.agent.dbId);
      terminals.noticeAll(written.agent.dbId, 'The machine is connected again.');
    }
    const { dbId, ownerId, state } = written.agent;
    return ok({ dbId, ownerId, name, epoch: state.epoch });
  };

/** The caller's agent for that machine, locked; a new one within the tier's limit. */
async function agentOf(
  tx: Repositories,
  greeting: AgentGreeting,
  caller: Caller,
  origin: RequestOrigin,
): AsyncResult<Agent> {
  const machineId = greeting.machineId.toLowerCase();
  const platform = greeting.platform.slice(0, MAX_PLATFORM);
  const known = await tx.agents.findByMachine(caller.user.id, machineId);
  if (known !== null) return ok({ ...known, platform });
  await tx.users.lock(caller.user.id);
  const made = await tx.agents.findByMachine(caller.user.id, machineId);
  if (made !== null) return ok({ ...made, platform });
  if (await isIdOfAnother(tx, machineId)) return refuse({ code: 'not_authorized' });
  const room = await roomForAgent(tx, caller);
  if (!room.ok) return room;
  const dbId = (await tx.containers.findAny(machineId)) === null ? machineId : randomUUID();
  const agent: Agent = { dbId, ownerId: caller.user.id, machineId, platform, state: NEW_AGENT };
  await insertContainer(tx, agent, await freeName(tx, agent.ownerId, greeting.name));
  const userId = caller.user.id;
  await tx.audit.append({ userId, action: 'agent_added', ...origin, details: dbId });
  return ok(agent);
}

/** An agent's row has what containers have, but nothing of it is used. */
async function insertContainer(tx: Repositories, { dbId, ownerId }: Agent, name: string): Promise<void> {
  const runtimeId = agentRuntimeId(dbId);
  await tx.containers.insert({
    dbId,
    ownerId,
    name,
    node: AGENT_NODE,
    volume: runtimeId,
    env: {},
    resources: NO_RESOURCES,
    imageKey: AGENT_NODE,
    image: AGENT_NODE,
    shell: '',
    role: AGENT_NODE,
  });
  await tx.containers.changeState(dbId, ['creating'], { state: 'stopped', runtimeId, started: true });
}

async function freeName(tx: Repositories, ownerId: string, given: string): Promise<string> {
  const wanted = cleanAgentName(given);
  for (let n = 1; ; n += 1) {
    const name = agentNameAt(wanted, n);
    if (!(await tx.containers.nameInUse(ownerId, name))) return name;
  }
}

/** A machine that calls itself otherwise now is renamed. */
async function nameOf(
  tx: Repositories,
  { dbId, ownerId }: Agent,
  { name: given }: AgentGreeting,
  origin: RequestOrigin,
): Promise<string> {
  const row = await tx.containers.findAny(dbId);
  if (row === null) throw new Error(`the row of agent ${dbId} is gone`);
  if (isNameOf(row.name, cleanAgentName(given))) return row.name;
  const name = await freeName(tx, ownerId, given);
  const renamed = await tx.containers.changeState(dbId, CONTAINER_STATES, { state: row.state, name });
  if (renamed === null) throw new Error(`the row of agent ${dbId} is gone`);
  await tx.audit.append({ userId: ownerId, action: 'container_updated', ...origin, details: dbId });
  await tx.events.append(containerEvent('container_updated', renamed, false));
  return name;
}
