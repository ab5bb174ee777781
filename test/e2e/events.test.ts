import t from 'tap';
import { followEvents } from '../support/event-follower.ts';
import { small } from '../support/fault-scene.ts';
import { aPairOfReplicas } from '../support/replicas.ts';
import { client } from '../support/running-service.ts';

t.setTimeout(300_000);

t.test('a subscriber whose replica is killed goes on at another, and misses nothing', async (t) => {
  const pair = await aPairOfReplicas(t);
  if (pair === null) return;
  const { token, replicas } = pair;
  const [a, b] = replicas;
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
});
