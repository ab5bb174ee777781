import t, { type Test } from 'tap';
import { eventually } from '../support/patience.ts';
import { aPairOfReplicas, small } from '../support/process/fault-scene.ts';
import { client, type Member, register, signInAdmin } from '../support/process/running-service.ts';
import { soak } from '../support/process/soak.ts';
import { followEvents } from '../support/service/streams.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

t.setTimeout(600_000);

type Pair = NonNullable<Awaited<ReturnType<typeof aPairOfReplicas>>>['replicas'];

/** A terminal of a container, through the process at that address. */
const terminalAt = (at: string, dbId: string, token: string, query: Record<string, string | number> = {}) =>
  terminalClient({ address: at.replace('http', 'ws'), dbId, token }, query, { origin: at });

/** Between two kills, so that each comes in the middle of changes. */
const CHANGES = 3;

const pair = await aPairOfReplicas(t);
if (pair !== null) {
  const { replicas } = pair;
  // First: all that was ever announced is compared.
  await t.test('changes go on while a replica is killed, and then both at once', (t) =>
    soak(t, pair, 2, async ({ replicas: [one, other], changes, kill }) => {
      for (const which of [[one], [one, other]]) {
        await changes(CHANGES);
        await kill(...which);
      }
      await changes(CHANGES);
    }),
  );
  await t.test('what is revoked at one process is refused at the other', (t) => revokes(t, replicas));
  await t.test(
    'a program is taken over at another process, and ends with its container wherever that is',
    (t) => takesOver(t, replicas),
  );
  await t.test('a participant who is put out at one process loses the sockets of the other one', (t) =>
    putsOut(t, replicas),
  );
  await t.test('a subscriber whose replica is killed goes on at another, and misses nothing', (t) =>
    followsOn(t, replicas),
  );
}

/** Someone new, registered at the first process. */
async function someone([here]: Pair, name = 'ada'): Promise<Member> {
  const address = here.address();
  return await register({ address, admin: client(address, await signInAdmin({ address })) }, { name });
}

async function revokes(t: Test, replicas: Pair): Promise<void> {
  const [here, there] = replicas.map((replica) => replica.address()) as [string, string];
  const { email, password, token } = await someone(replicas);
  const own = client(here, token);
  const victim = (await client(here)('POST', '/api/auth/login', { email, password })).body;
  const made = await own('POST', '/api/tokens', { name: 'ci' });
  const credentials = [String(victim['token']), String(made.body['token'])];
  const statuses = (): Promise<number[]> =>
    Promise.all(credentials.map(async (one) => (await client(there, one)('GET', '/api/containers')).status));
  t.same(await statuses(), [200, 200], 'good at both, and remembered by now');
  await own('DELETE', `/api/sessions/${victim['session_id']}`);
  await own('POST', `/api/tokens/${made.body['id']}/revoke`);
  t.same(await eventually(statuses, (seen) => !seen.includes(200)), [401, 401]);
}

async function takesOver(t: Test, replicas: Pair): Promise<void> {
  const [here, there] = replicas.map((replica) => replica.address()) as [string, string];
  const { token } = await someone(replicas);
  const call = client(here, token);
  const dbId = String((await call('POST', '/api/containers', { name: 'dev', ...small })).body['db_id']);
  const open = (at: string, query = {}) => terminalAt(at, dbId, token, query);

  const first = await open(here);
  await first.until(() => first.output().includes('# '));
  first.socket.send(Buffer.from('echo still-$((40+2))\r'));
  await first.until(() => first.output().includes('still-42'));
  const resume = { stream: first.ready.stream, after: first.output().length };
  const second = await open(there, resume);
  t.same(await first.closed(), [1000, 'replaced']);
  t.match(second.ready, { redraw: true, mux_session: 'main' });
  await second.until(() => second.output().includes('still-42'));
  second.socket.send(Buffer.from('echo again-$((40+2))\r'));
  await second.until(() => second.output().includes('again-42'));

  const third = await open(here, { connection_id: 'split' });
  const asAdmin = client(there, await signInAdmin({ address: there }));
  const { body } = await asAdmin('GET', '/api/admin/terminals');
  const listed = body['terminals'] as { id: string; connection_id: string; replica: string }[];
  t.same(
    listed.map((one) => one.connection_id),
    ['split', 'main'],
  );
  t.not(listed[0]?.replica, listed[1]?.replica);
  const closed = await asAdmin('DELETE', `/api/admin/terminals/${listed[0]?.id}`);
  t.equal(closed.status, 200);
  t.same(await third.closed(), [4001, 'unauthorized']);

  t.equal((await call('POST', `/api/containers/${dbId}/stop`)).status, 200);
  t.same(await second.closed(), [4009, 'container stopped']);
}

async function putsOut(t: Test, replicas: Pair): Promise<void> {
  const [here, there] = replicas.map((replica) => replica.address()) as [string, string];
  const { token } = await someone(replicas);
  const ada = client(here, token);
  const dbId = String((await ada('POST', '/api/containers', { name: 'dev', ...small })).body['db_id']);
  const share = (await ada('POST', `/api/containers/${dbId}/collaborations`, { mode: 'control' })).body;
  const join = { code: share['code'] };
  const joined = async (name: string) => {
    const person = await someone(replicas, name);
    const call = client(there, person.token);
    t.equal((await call('POST', '/api/collaborations/join', join)).status, 200);
    return { ...person, call };
  };
  const owner = await terminalAt(here, dbId, token);
  const [bob, eve] = [await joined('bob'), await joined('eve')];
  const his = await terminalAt(there, dbId, bob.token);
  const hers = await terminalAt(there, dbId, eve.token);
  await hers.until(() => hers.output().includes('# '));

  const out = await ada('DELETE', `/api/collaborations/${share['id']}/participants/${bob.id}`);
  t.equal(out.status, 200);
  t.same(await his.closed(), [4003, 'collaboration ended']);
  t.equal((await bob.call('GET', `/api/containers/${dbId}`)).status, 404);
  const again = await bob.call('POST', '/api/collaborations/join', join);
  t.equal(again.status, 404, 'the same code does not bring him back');
  await t.rejects(terminalAt(there, dbId, bob.token), 'nor does another socket');

  hers.socket.send(Buffer.from('echo still-$((40+2))\r'));
  await hers.until(() => hers.output().includes('still-42'));
  await owner.until(() => owner.output().includes('still-42'));
  t.equal((await eve.call('GET', `/api/containers/${dbId}`)).status, 200, 'the others stay');
  for (const { socket } of [owner, hers]) socket.terminate();
}

async function followsOn(t: Test, replicas: Pair): Promise<void> {
  const [a, b] = replicas;
  const { token } = await someone(replicas);
  let at = b;
  const follower = await followEvents(t, () => at.address(), token);
  const atA = client(a.address(), token);
  const made = await atA('POST', '/api/containers', { name: 'one', ...small });
  const path = `/api/containers/${made.body['db_id']}`;
  await follower.until(() => follower.messages.length === 1);
  await atA('POST', `${path}/stop`);
  await follower.until(() => follower.messages.length === 2);
  t.match(follower.messages[1], { type: 'container_stopped', data: { name: 'one', status: 'stopped' } });
  t.pass('what was stopped at one is told by the other');

  await b.kill();
  const names = ['two', 'three', 'four'];
  for (const name of names) await atA('PATCH', path, { name, ...small });
  at = a;
  await follower.until(() => follower.messages.length >= 5);
  await atA('POST', `${path}/start`);
  await follower.until(() => follower.messages.length >= 6);
  t.same(
    follower.messages.map(({ type, data }) => `${type} ${data?.['name']}`),
    [
      'container_created one',
      'container_stopped one',
      ...names.map((name) => `container_updated ${name}`),
      'container_started four',
    ],
  );
  t.equal(new Set(follower.messages.map(({ id }) => id)).size, 6, 'nothing twice');
  t.equal(follower.connections(), 2);
}
