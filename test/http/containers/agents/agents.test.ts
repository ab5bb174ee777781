import t from 'tap';
import { aMachine, connectMachine, openSocket } from '../../../support/agent/scripted-agent.ts';
import { waitFor } from '../../../support/patience.ts';
import {
  aGuest,
  anApiToken,
  aPerson,
  aService,
  as,
  auditOf,
  type Person,
  stateOf,
} from '../../../support/service/service.ts';
import { terminalClient } from '../../../support/terminal/terminal-client.ts';
import { listening } from '../../../support/terminal/terminals.ts';

const listed = async (service: Awaited<ReturnType<typeof aService>>, who: Person, query = '') =>
  (await as(service, who)('GET', `/api/containers${query}`)).json().containers;

/** A service that listens, and a person of tier `free`, who may have two agents. */
async function aScene(t: import('tap').Test) {
  const service = await aService();
  const address = await listening(t, service);
  const ada = await aPerson(service, 'ada');
  return { service, address, ada, by: as(service, ada), token: (await anApiToken(service, ada)).token };
}

t.test('a connected machine is listed among the containers, running', async (t) => {
  const { service, address, ada, token, by } = await aScene(t);
  const machine = aMachine('My laptop!');
  const agent = await connectMachine(address, token, machine);
  t.equal(agent.welcome.resumed, false);
  const [one] = await listed(service, ada, '?status=running');
  t.match(one, {
    id: `agent:${machine.id}`,
    db_id: machine.id,
    name: 'My-laptop',
    status: 'running',
    role: 'agent',
    agent: { platform: 'linux x64' },
  });
  for (const id of [one.id, one.db_id]) t.equal((await by('GET', `/api/containers/${id}`)).statusCode, 200);
  agent.socket.close();
  await waitFor(async () => (await listed(service, ada))[0]?.status === 'stopped');
  t.equal((await by('POST', `/api/containers/${one.id}/start`)).json().code, 'agent_not_connected');
  const state = stateOf(service);
  t.match(state.events, [
    { type: 'agent_connected', ownerId: ada.id, data: { id: one.id, name: 'My-laptop', status: 'running' } },
    { type: 'agent_disconnected', data: { id: one.id, status: 'stopped' } },
  ]);
  t.equal(state.events.length, 2);
});

t.test('start of a connected agent changes nothing; stop ends its socket until it returns', async (t) => {
  const { service, address, ada, token, by } = await aScene(t);
  const machine = aMachine();
  const id = `agent:${machine.id}`;
  const agent = await connectMachine(address, token, machine);
  const terminal = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await terminal.until(() => terminal.output().toString() === '$ ');
  t.match((await by('POST', `/api/containers/${id}/start`)).json(), { id, status: 'running' });
  const stopped = await by('POST', `/api/containers/${id}/stop`);
  t.same(stopped.json(), { message: 'container stopped', id, name: 'laptop', status: 'stopped' });
  t.same(await agent.closed(), [4009, 'stopped']);
  t.equal(agent.said(), 'stopped');
  t.same(await terminal.closed(), [4009, 'container stopped']);
  t.equal((await by('POST', `/api/containers/${id}/stop`)).statusCode, 200, 'a second stop changes nothing');
  const again = await connectMachine(address, token, machine);
  t.equal(again.welcome.resumed, false, 'its session ended with the stop');
  t.equal((await listed(service, ada))[0].status, 'running');
  const back = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await back.until(() => back.output().toString() === '$ ');
  t.equal(machine.shells.size, 1, 'the shell was left alone, and is shown again');
});

t.test('a deleted agent is forgotten: its socket, its terminals, its name and its token end', async (t) => {
  const { service, address, ada, by } = await aScene(t);
  const machine = aMachine();
  const { code } = (await by('POST', '/api/agents/enrolments')).json();
  const enrolled = await as(service, null)('POST', '/api/agents/enrol', {
    code,
    agent: machine.id,
    name: 'laptop',
  });
  const agent = await connectMachine(address, enrolled.json().token, machine);
  const terminal = await terminalClient({ address, dbId: machine.id, token: ada.token });
  t.match((await by('DELETE', `/api/containers/agent:${machine.id}`)).json(), {
    message: 'container deleted',
    id: `agent:${machine.id}`,
    db_id: machine.id,
    name: 'laptop',
  });
  t.same(await agent.closed(), [4004, 'forgotten']);
  t.same(await terminal.closed(), [4004, 'container deleted']);
  t.same(await listed(service, ada), []);
  t.same(await listed(service, ada, '?deleted=true'), [], 'nothing can be restored');
  t.equal((await by('POST', `/api/containers/${machine.id}/restore`)).statusCode, 404);
  await t.rejects(connectMachine(address, enrolled.json().token, machine), { message: /401/ });
  const { token } = await anApiToken(service, ada);
  await connectMachine(address, token, machine);
  const [anew] = await listed(service, ada);
  t.match(anew, { name: 'laptop', status: 'running' });
  t.not(anew.id, `agent:${machine.id}`, 'with another token it is a new agent');
});

t.test('the tier limits agents, and guests have none, in plain HTTP before the upgrade', async (t) => {
  const { service, address, ada, token } = await aScene(t);
  const machines = [aMachine('one'), aMachine('one')];
  for (const machine of machines) await connectMachine(address, token, machine);
  t.same(
    (await listed(service, ada)).map(({ name }: { name: string }) => name).sort(),
    ['one', 'one-2'],
    'a taken name gets a number',
  );
  await t.rejects(connectMachine(address, token), { status: 409, code: 'agent_limit_reached' });
  await connectMachine(address, token, machines[0]);
  const guest = await aGuest(service);
  await t.rejects(connectMachine(address, guest.token), { status: 409, code: 'agent_limit_reached' });
  await t.rejects(openSocket(address, token, 'no uuid'), { status: 400, code: 'validation_failed' });
  await t.rejects(openSocket(address, 'svc_wrong', aMachine().id), { code: 'api_token_rejected' });
  const reader = await anApiToken(service, ada, { scopes: ['read'] });
  await t.rejects(connectMachine(address, reader.token), { status: 403, code: 'insufficient_scope' });
});

t.test('a newer connection of a machine replaces the older one, and takes over its session', async (t) => {
  const { service, address, ada, token } = await aScene(t);
  const machine = aMachine();
  const older = await connectMachine(address, token, machine);
  const terminal = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await terminal.until(() => terminal.output().toString() === '$ ');
  const newer = await connectMachine(address, token, machine);
  t.same(await older.closed(), [1000, 'replaced']);
  t.equal(newer.welcome.resumed, true);
  terminal.socket.send(Buffer.from('ls'));
  await terminal.until(() => terminal.output().toString() === '$ ls');
  t.equal((await listed(service, ada))[0].status, 'running', 'the end of the older one changes nothing');
});

t.test('a machine that comes back with another name is renamed, on record and announced', async (t) => {
  const { service, address, ada, token } = await aScene(t);
  const machine = aMachine('laptop');
  const state = stateOf(service);
  const newSince = (before: number) =>
    state.events.slice(before).map(({ type, data }) => [type, data['name'], data['status']]);
  const older = await connectMachine(address, token, machine);
  const connected = state.events.length;
  const newer = await connectMachine(address, token, { ...machine, name: 'desk' });
  await older.closed();
  t.same(newSince(connected), [['container_updated', 'desk', 'running']]);
  newer.socket.close();
  await waitFor(async () => (await listed(service, ada))[0]?.status === 'stopped');
  const away = state.events.length;
  await connectMachine(address, token, { ...machine, name: 'tower' });
  t.same(newSince(away), [
    ['container_updated', 'tower', 'stopped'],
    ['agent_connected', 'tower', 'running'],
  ]);
  t.same(
    auditOf(service, 'container_updated').map(({ userId, details }) => [userId, details]),
    Array(2).fill([ada.id, machine.id]),
  );
});

t.test('terminals wait for a lost agent, exactly, and tell their users', async (t) => {
  const { address, ada, token } = await aScene(t);
  const machine = aMachine();
  const agent = await connectMachine(address, token, machine);
  const terminal = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await terminal.until(() => terminal.output().toString() === '$ ');
  agent.socket.terminate();
  const words = () => terminal.messages.filter(({ type }) => type === 'notice').map(({ message }) => message);
  await terminal.until(() => words().length === 1);
  terminal.socket.send(Buffer.from('typed meanwhile'));
  const back = await connectMachine(address, token, machine);
  t.equal(back.welcome.resumed, true);
  await terminal.until(() => terminal.output().toString() === '$ typed meanwhile');
  await terminal.until(() => words().length === 2);
  t.match(words(), [/not connected/, /connected again/]);
});

t.test('commands and files of an agent go through the usual endpoints', async (t) => {
  const { address, token, by } = await aScene(t);
  const machine = aMachine();
  await connectMachine(address, token, machine);
  const at = `/api/containers/agent:${machine.id}`;
  const run = (payload: object) => by('POST', `${at}/exec`, payload);
  t.match((await run({ command: ['uname', '-a'] })).json(), {
    exit_code: 0,
    stdout: 'uname -a\n',
    stderr: '',
  });
  t.match((await run({ command: ['false'] })).json(), { exit_code: 1 });
  const input = 'x'.repeat(100_000);
  t.equal((await run({ command: ['cat'], stdin: input })).json().stdout, `cat\n${input}`);
  const headers = { 'content-type': 'application/octet-stream' };
  const put = await by('PUT', `${at}/files?path=notes`, Buffer.from('hello') as unknown as object, headers);
  t.match(put.json(), { size: 5, created: true }, put.body);
  t.equal((await by('GET', `${at}/files?path=notes`)).body, 'hello');
  const add = async () =>
    (
      await by('PUT', `${at}/files?path=notes&replace=false`, Buffer.from('x') as unknown as object, headers)
    ).json();
  t.equal((await add()).code, 'file_in_the_way');
  machine.alwaysReplaces = true;
  t.equal((await add()).code, 'not_for_agents', 'an older agent is not trusted with it');
  t.equal((await by('GET', `${at}/files?path=notes`)).body, 'hello');
  t.equal((await by('DELETE', `${at}/files?path=notes`)).statusCode, 200);
  t.equal((await by('GET', `${at}/files?path=notes`)).json().code, 'file_not_found');
});

t.test('what only containers have is refused clearly', async (t) => {
  const { address, token, by } = await aScene(t);
  const machine = aMachine();
  await connectMachine(address, token, machine);
  const at = `/api/containers/agent:${machine.id}`;
  const settings = { name: 'new', memory_mb: 256, cpu_shares: 100, disk_mb: 512 };
  const asked = [
    ['PATCH', at, settings],
    ['GET', `${at}/stats`],
    ['GET', `${at}/logs`],
    ['GET', `${at}/changes`],
    ['PATCH', `${at}/lifetime`, { idle_seconds: 600 }],
    ['POST', `${at}/role-setup/retry`],
    ['POST', `${at}/role-setup/cancel`],
  ] as const;
  for (const [method, url, payload] of asked) {
    const answer = await by(method, url, payload);
    t.match(
      answer.json(),
      { code: 'not_for_agents' },
      `${method} ${url}: ${answer.statusCode} ${answer.body}`,
    );
  }
  t.equal((await by('POST', `${at}/purge`, { name: 'laptop' })).statusCode, 404);
});

t.test('the end of the credential closes the socket at once', async (t) => {
  const { service, address, ada, by } = await aScene(t);
  const made = await anApiToken(service, ada);
  const agent = await connectMachine(address, made.token);
  await by('POST', `/api/tokens/${made.id}/revoke`);
  t.same(await agent.closed(), [4001, 'unauthorized']);
});

t.test('malformed messages close the socket, and change nothing else', async (t) => {
  const { address, ada, token, service } = await aScene(t);
  const silent = await openSocket(address, token, aMachine().id);
  const closed = new Promise<number>((resolve) => silent.once('close', resolve));
  silent.send(Buffer.from([1, 2, 3]));
  t.equal(await closed, 1002, 'no greeting');
  t.same(await listed(service, ada), [], 'and no agent');
  const machine = aMachine();
  const agent = await connectMachine(address, token, machine);
  agent.socket.send('text');
  t.same(await agent.closed(), [1002, 'protocol']);
  const again = await connectMachine(address, token, machine);
  t.equal(again.welcome.resumed, false);
});

t.test('a code installs one machine once, whose token reaches nothing else', async (t) => {
  const { service, address, by } = await aScene(t);
  const enrol = as(service, null);
  const machine = aMachine();
  const made = await by('POST', '/api/agents/enrolments');
  t.equal(made.statusCode, 201);
  const request = { code: made.json().code, agent: machine.id, name: 'laptop' };
  const { token } = (await enrol('POST', '/api/agents/enrol', request)).json();
  t.equal((await enrol('POST', '/api/agents/enrol', request)).json().code, 'enrolment_not_found', 'spent');
  await connectMachine(address, token, machine);
  const itself = as(service, { token });
  t.equal((await itself('GET', '/api/me')).json().code, 'token_restricted');
  const box = (await by('POST', '/api/containers', { name: 'dev' })).json().db_id;
  t.equal((await itself('GET', `/api/containers/${box}`)).statusCode, 404, 'it reaches no other container');
  await t.rejects(connectMachine(address, token), { code: 'not_authorized' }, 'nor as another machine');
  const late = (await by('POST', '/api/agents/enrolments')).json();
  service.clock.advance(15 * 60_000);
  t.equal((await enrol('POST', '/api/agents/enrol', { ...request, code: late.code })).statusCode, 404);
});

t.test('the terminal of an agent is shared and recorded like that of a container', async (t) => {
  const { service, address, ada, token, by } = await aScene(t);
  const machine = aMachine();
  await connectMachine(address, token, machine);
  const dbId = machine.id;
  const owner = await terminalClient({ address, dbId, token: ada.token });
  await owner.until(() => owner.output().toString() === '$ ');
  const bob = await aPerson(service, 'bob');
  for (const [mode, typed] of [
    ['view', ''],
    ['control', 'bob'],
  ] as const) {
    const { code, id } = (await by('POST', `/api/containers/${dbId}/collaborations`, { mode })).json();
    await as(service, bob)('POST', '/api/collaborations/join', { code });
    const guest = await terminalClient({ address, dbId, token: bob.token });
    await guest.until(() => guest.output().toString() === '$ ');
    guest.socket.send(Buffer.from('bob'));
    if (typed !== '') await owner.until(() => owner.output().toString() === `$ ${typed}`);
    await by('DELETE', `/api/collaborations/${id}`);
    t.same(await guest.closed(), [4003, 'collaboration ended']);
    t.equal(owner.output().toString(), `$ ${typed}`, mode);
  }
  t.same([...machine.shells.keys()], ['main'], 'the end of a share leaves the shell');
  const recording = await by('POST', `/api/containers/${dbId}/recordings`, {});
  t.equal(recording.statusCode, 201, recording.body);
  t.equal((await by('POST', `/api/recordings/${recording.json().id}/stop`)).statusCode, 200);
});

t.test('a command of a lost agent has an unknown outcome', async (t) => {
  const { address, token, by } = await aScene(t);
  const machine = aMachine();
  await connectMachine(address, token, machine);
  const at = `/api/containers/agent:${machine.id}`;
  const running = by('POST', `${at}/exec`, { command: ['sleep', '60'], timeout_seconds: 60 });
  await waitFor(() => machine.asked.includes('exec'));
  await by('POST', `${at}/stop`);
  t.match((await running).json(), { code: 'command_outcome_unknown' });
});

t.test('a machine without the session is asked nothing of it', async (t) => {
  const { address, ada, token } = await aScene(t);
  const machine = aMachine();
  const agent = await connectMachine(address, token, machine);
  const terminal = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await terminal.until(() => terminal.output().toString() === '$ ');
  agent.socket.terminate();
  await agent.closed();
  machine.session = null;
  machine.peer = null;
  const fresh = await connectMachine(address, token, machine);
  t.equal(fresh.welcome.resumed, false);
  t.same(await terminal.closed(), [4013, 'detached']);
  const again = await terminalClient({ address, dbId: machine.id, token: ada.token });
  await again.until(() => again.output().toString() === '$ ');
});
