import t, { type Test } from 'tap';
import { aPairOfReplicas, type Pair, small } from '../support/process/fault-scene.ts';
import { client, type Member, register, signInAdmin } from '../support/process/running-service.ts';
import { soak } from '../support/process/soak.ts';
import { terminalKills } from '../support/process/terminal-kills.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

t.setTimeout(600_000);

/** Changes between two kills. */
const CHANGES = 3;

const pair = await aPairOfReplicas(t);
if (pair !== null) {
  const { replicas } = pair;
  // First, since it compares every event ever announced, at subscribers that continue at the other replica.
  await t.test('changes continue while a replica is killed, and then both', (t) =>
    soak(t, pair, 2, async ({ replicas: [one, other], changes, kill }) => {
      for (const which of [[one], [one, other]]) {
        await changes(CHANGES);
        await kill(...which);
      }
      await changes(CHANGES);
    }),
  );
  await t.test('another process takes over a program, which ends with its container from anywhere', (t) =>
    takesOver(t, replicas),
  );
  await t.test('a killed replica with terminals at work', (t) => terminalKills(t, pair));
}

/** A new user, registered at the first process. */
async function someone([here]: Pair['replicas']): Promise<Member> {
  const address = here.address();
  await signInAdmin({ address });
  return await register({ address }, { name: 'ada' });
}

async function takesOver(t: Test, replicas: Pair['replicas']): Promise<void> {
  const [here, there] = replicas.map((replica) => replica.address()) as [string, string];
  const { token } = await someone(replicas);
  const call = client(here, token);
  const dbId = String((await call('POST', '/api/containers', { name: 'dev', ...small })).body['db_id']);
  const open = (at: string, query = {}) =>
    terminalClient({ address: at.replace('http', 'ws'), dbId, token }, query, { origin: at });

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
