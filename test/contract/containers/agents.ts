import { randomUUID } from 'node:crypto';
import t from 'tap';
import {
  AGENT_NODE,
  type Agent,
  agentRuntimeId,
  NEW_AGENT,
} from '../../../src/domain/containers/agents/agent.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { hashOf, ownContainers, storedContainer, storedUser } from '../../support/database/stored.ts';

type Pass = (table: 'agents' | 'agent_enrolments', seconds: number) => Promise<unknown>;

/** An agent of a user, connected to `replica`. */
async function storedAgent(storage: Storage, ownerId: string, replica = randomUUID()): Promise<Agent> {
  const { agents, containers } = storage.repositories;
  const { dbId } = await storedContainer(storage, ownerId, { node: AGENT_NODE });
  await containers.changeState(dbId, ['running'], { state: 'running', runtimeId: agentRuntimeId(dbId) });
  const agent: Agent = { dbId, ownerId, machineId: randomUUID(), platform: 'linux x64', state: NEW_AGENT };
  await agents.put({ ...agent, state: { kind: 'connected', epoch: 1, replica } });
  return { ...agent, state: { kind: 'connected', epoch: 1, replica } };
}

/** Guarantees of stored agents and their codes. `pass` ages rows. */
export async function agentRepositoryContract(name: string, storage: Storage, pass: Pass): Promise<void> {
  const { agents, agentEnrolments, containers, terminals } = storage.repositories;

  await t.test(`${name}: an agent is a container of its owner, and counts as an agent alone`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const agent = await storedAgent(storage, ada.id);
    t.match(await ownContainers(storage, ada.id), [
      { dbId: agent.dbId, runtimeId: `agent:${agent.dbId}`, agent: { platform: 'linux x64' } },
    ]);
    const ref = { kind: 'agent', agentId: agent.dbId } as const;
    t.match(await containers.findOwned(ref, ada.id), { dbId: agent.dbId });
    t.equal(await containers.findOwned(ref, eve.id), null);
    const box = await storedContainer(storage, ada.id);
    t.equal(await containers.findOwned({ kind: 'agent', agentId: box.dbId }, ada.id), null, 'no container');
    t.same([await containers.countLive(ada.id), await agents.countLive(ada.id)], [1, 1]);
    t.notOk(
      (await containers.listAllLive()).some(({ dbId }) => dbId === agent.dbId),
      'no engine has it',
    );
  });

  await t.test(`${name}: an agent is found by owner and machine until it is forgotten`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const agent = await storedAgent(storage, ada.id);
    t.same(await agents.findByMachine(ada.id, agent.machineId), agent);
    t.equal(await agents.findByMachine(eve.id, agent.machineId), null);
    await containers.changeState(agent.dbId, ['running'], { state: 'deleted' });
    const forgotten = { ...agent, state: { kind: 'forgotten', epoch: 1 } } as const;
    await agents.put(forgotten);
    t.equal(await agents.findByMachine(ada.id, agent.machineId), null);
    t.same(await agents.find(agent.dbId), forgotten);
    t.equal(await agents.countLive(ada.id), 0);
    t.same(await storage.repositories.deletedContainers.listRestorable(ada.id), []);
    t.equal(await storage.repositories.deletedContainers.countKept(ada.id), 0, 'it has no volume to keep');
  });

  await t.test(`${name}: connections belong to processes, which renew them`, async (t) => {
    const ada = await storedUser(storage);
    const replica = randomUUID();
    const [first, second] = [
      await storedAgent(storage, ada.id, replica),
      await storedAgent(storage, ada.id, replica),
    ];
    const ids = async (found: Promise<readonly Agent[]>) => (await found).map(({ dbId }) => dbId).sort();
    t.same(await ids(agents.connectedTo(replica)), [first.dbId, second.dbId].sort());
    await pass('agents', 100);
    await agents.seen(replica, [first.dbId]);
    const silent = await ids(agents.unattended(75));
    t.same([silent.includes(first.dbId), silent.includes(second.dbId)], [false, true]);
    await agents.seen(randomUUID(), [second.dbId]);
    t.ok((await ids(agents.unattended(75))).includes(second.dbId), 'another process does not renew it');
  });

  await t.test(`${name}: for its terminals an agent runs five minutes without a connection`, async (t) => {
    const ada = await storedUser(storage);
    const agent = await storedAgent(storage, ada.id);
    const state = async () => (await terminals.containerStatuses([agent.dbId]))[0]?.state;
    await agents.put({ ...agent, state: { kind: 'away', epoch: 1 } });
    await containers.changeState(agent.dbId, ['running'], { state: 'stopped' });
    t.equal(await state(), 'running');
    await agents.put({ ...agent, state: { kind: 'stopped', epoch: 1 } });
    t.equal(await state(), 'stopped', 'not after a stop');
    await agents.put({ ...agent, state: { kind: 'away', epoch: 1 } });
    await pass('agents', 301);
    t.equal(await state(), 'stopped');
  });

  await t.test(`${name}: a code is taken once, while it lives`, async (t) => {
    const ada = await storedUser(storage);
    const add = (code: string) =>
      agentEnrolments.insert({ userId: ada.id, codeHash: hashOf(code), lifeSeconds: 60 });
    const [one, two] = [randomUUID(), randomUUID()];
    await add(one);
    t.equal(await agentEnrolments.count(ada.id), 1);
    t.equal(await agentEnrolments.userOf(hashOf(one)), ada.id, 'which takes nothing');
    t.equal(await agentEnrolments.take(hashOf(one)), ada.id);
    t.equal(await agentEnrolments.take(hashOf(one)), null);
    await add(two);
    await pass('agent_enrolments', 61);
    t.same(
      [await agentEnrolments.userOf(hashOf(two)), await agentEnrolments.take(hashOf(two))],
      [null, null],
    );
    t.equal(await agentEnrolments.count(ada.id), 0);
  });

  await t.test(`${name}: all codes of one user end at once`, async (t) => {
    const [ada, eve] = [await storedUser(storage), await storedUser(storage)];
    const codes = [ada, ada, eve].map(({ id }) => ({ userId: id, codeHash: hashOf(randomUUID()) }));
    for (const code of codes) await agentEnrolments.insert({ ...code, lifeSeconds: 60 });
    await agentEnrolments.endAll(ada.id);
    t.same([await agentEnrolments.count(ada.id), await agentEnrolments.count(eve.id)], [0, 1]);
  });
}
