import t from 'tap';
import { drain } from '../../../../src/app/main/process/drain.ts';
import { aMachine, connectMachine } from '../../../support/agent/scripted-agent.ts';
import { waitFor } from '../../../support/patience.ts';
import { aCluster, inMemory } from '../../../support/service/cluster.ts';
import { anApiToken, aPerson, aService, as } from '../../../support/service/service.ts';
import { terminalClient } from '../../../support/terminal/terminal-client.ts';
import { listening } from '../../../support/terminal/terminals.ts';

t.test('a process without the connection lists the agent, stops it, and refuses the rest', async (t) => {
  const { here, there, addresses, ada } = await aCluster(t);
  const { token } = await anApiToken(here, ada);
  const machine = aMachine();
  const agent = await connectMachine(addresses[0], token, machine);
  const [mine, other] = [as(here, ada), as(there, ada)];
  const at = `/api/containers/agent:${machine.id}`;
  t.match((await other('GET', at)).json(), { status: 'running' });
  const exec = { command: ['id'] };
  const refused = await other('POST', `${at}/exec`, exec);
  t.match([refused.statusCode, refused.json().code], [503, 'agent_elsewhere']);
  t.equal(refused.headers['retry-after'], '1');
  t.match((await other('GET', `${at}/files?path=x`)).json(), { code: 'agent_elsewhere' });
  t.match((await other('GET', `${at}/terminal`)).json(), { code: 'agent_elsewhere' }, 'before the upgrade');
  t.equal((await mine('POST', `${at}/exec`, exec)).statusCode, 200);
  t.equal((await other('POST', `${at}/stop`)).statusCode, 200);
  t.same(await agent.closed(), [4009, 'stopped']);
  await connectMachine(addresses[0], token, machine);
  t.equal((await other('DELETE', at)).statusCode, 200);
  await waitFor(async () => (await mine('GET', at)).statusCode === 404);
});

t.test('an agent moves to another process, with its shells but without its streams', async (t) => {
  const { here, there, addresses, ada } = await aCluster(t);
  const { token } = await anApiToken(here, ada);
  const machine = aMachine();
  const older = await connectMachine(addresses[0], token, machine);
  const dbId = machine.id;
  const terminal = await terminalClient({ address: addresses[0], dbId, token: ada.token });
  await terminal.until(() => terminal.output().toString() === '$ ');
  terminal.socket.send(Buffer.from('ls'));
  await terminal.until(() => terminal.output().toString() === '$ ls');
  const newer = await connectMachine(addresses[1], token, machine);
  t.equal(newer.welcome.resumed, false);
  t.same(await older.closed(), [1000, 'replaced']);
  t.same(await terminal.closed(), [4013, 'detached'], 'its client opens it again, where the agent is');
  t.match((await as(here, ada)('GET', `/api/containers/${dbId}/terminal`)).json(), {
    code: 'agent_elsewhere',
  });
  const again = await terminalClient({ address: addresses[1], dbId, token: ada.token });
  await again.until(() => again.output().toString() === '$ ls');
  t.equal((await as(there, ada)('GET', `/api/containers/${dbId}`)).json().status, 'running');
});

t.test('the agents of a dead process are disconnected by another one, and by its next run', async (t) => {
  const shared = inMemory();
  const clock = shared.clock as ReturnType<
    typeof import('../../../../src/adapters/memory/index.ts').fixedClock
  >;
  let nowMs = 0;
  const { here, there, addresses, ada } = await aCluster(t, { ...shared, monotonicMs: () => nowMs });
  const machine = aMachine();
  await connectMachine(addresses[0], (await anApiToken(here, ada)).token, machine);
  const status = async () => (await as(there, ada)('GET', `/api/containers/${machine.id}`)).json().status;
  for (const seconds of [60, 60]) {
    clock.advance(seconds * 1_000);
    nowMs += seconds * 1_000;
    await here.writeDue();
    await there.writeDue();
    t.equal(await status(), 'running', 'while its process renews it');
  }
  clock.advance(80_000);
  nowMs += 80_000;
  await there.writeDue();
  t.equal(await status(), 'stopped');
  const before = await shared.storage.repositories.agents.find(machine.id);
  if (before === null) throw new Error('the agent is gone');
  await shared.storage.repositories.agents.put({
    ...before,
    state: { kind: 'connected', epoch: 9, replica: '11111111-1111-4111-8111-111111111111' },
  });
  const next = await aService(
    { storage: shared.storage, clock },
    { replica: '11111111-1111-4111-8111-111111111111' },
  );
  await next.agents.begin();
  t.match(await shared.storage.repositories.agents.find(machine.id), { state: { kind: 'away', epoch: 9 } });
});

t.test('a restart of the service asks the agents to come back, and leaves their shells', async (t) => {
  const shared = inMemory();
  const service = await aService({ ...shared, bus: shared.bus() });
  const address = await listening(t, service);
  const ada = await aPerson(service, 'ada');
  const { token } = await anApiToken(service, ada);
  const machine = aMachine();
  const agent = await connectMachine(address, token, machine);
  const terminal = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await terminal.until(() => terminal.output().toString() === '$ ');
  await Promise.all([drain(service), agent.closed(), terminal.closed()]);
  t.same(await agent.closed(), [4012, 'restarting']);
  t.equal(agent.said(), 'restarting');
  const next = await aService({ ...shared, bus: shared.bus() });
  const nextAddress = await listening(t, next);
  await next.agents.begin();
  await connectMachine(nextAddress, token, machine);
  t.same([...machine.shells.keys()], ['main'], 'nothing ended it');
  const again = await terminalClient({ address: nextAddress, dbId: machine.id, token: ada.token });
  await again.until(() => again.output().toString() === '$ ');
  t.notOk(machine.asked.includes('end_shell'));
});
