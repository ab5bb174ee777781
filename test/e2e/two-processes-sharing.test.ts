import t from 'tap';
import { aPairOfReplicas } from '../support/process/replicas.ts';
import { client } from '../support/process/running-service.ts';
import { terminalClient } from '../support/terminal/terminal-client.ts';

const small = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

t.test('a participant who is put out at one process loses the sockets of the other one', async (t) => {
  const pair = await aPairOfReplicas(t);
  if (pair === null) return;
  const [here, there] = pair.replicas.map(({ address }) => address()) as [string, string];
  const root = client(here, pair.login);
  await root('PATCH', '/api/admin/settings', { open_registration: true });
  const dbId = (await root('POST', '/api/containers', { name: 'dev', ...small })).body['db_id'] as string;
  const share = (await root('POST', `/api/containers/${dbId}/collaborations`, { mode: 'control' })).body;

  const person = async (username: string) => {
    const account = { username, email: `${username}@example.org`, password: 'correct horse battery' };
    const { body } = await client(there)('POST', '/api/auth/register', account);
    const call = client(there, body['token'] as string);
    const joined = await call('POST', '/api/collaborations/join', { code: share['code'] });
    t.equal(joined.status, 200);
    return { id: (body['user'] as { id: string }).id, token: body['token'] as string, call };
  };
  const open = (at: string, token: string, pane = 'main') =>
    terminalClient(
      { address: at.replace('http', 'ws'), dbId, token },
      { connection_id: pane },
      { origin: at },
    );
  const owner = await open(here, pair.login);
  const [bob, eve] = [await person('bob'), await person('eve')];
  const his = await open(there, bob.token);
  const hers = await open(there, eve.token);
  await hers.until(() => hers.output().includes('# '));

  const out = await root('DELETE', `/api/collaborations/${share['id']}/participants/${bob.id}`);
  t.equal(out.status, 200);
  t.same(await his.closed(), [4003, 'collaboration ended']);
  t.equal((await bob.call('GET', `/api/containers/${dbId}`)).status, 404);
  const again = await bob.call('POST', '/api/collaborations/join', { code: share['code'] });
  t.equal(again.status, 404, 'the same code does not bring him back');
  await t.rejects(open(there, bob.token), 'nor does another socket');

  hers.socket.send(Buffer.from('echo still-$((40+2))\r'));
  await hers.until(() => hers.output().includes('still-42'));
  await owner.until(() => owner.output().includes('still-42'));
  t.equal((await eve.call('GET', `/api/containers/${dbId}`)).status, 200, 'the others stay');
});
