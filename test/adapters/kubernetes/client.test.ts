import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { type ApiClient, apiClient } from '../../../src/adapters/kubernetes/client/api-client.ts';
import { ApiFailure, orNull } from '../../../src/adapters/kubernetes/client/api-failure.ts';
import { clusterAccess } from '../../../src/adapters/kubernetes/client/cluster-access.ts';
import { Bare } from '../../../src/adapters/kubernetes/client/objects.ts';
import { watchObjects } from '../../../src/adapters/kubernetes/client/watch.ts';
import { RightMissing, RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';
import { hintsOf } from '../../support/hints.ts';
import { type StandInCluster, startStandInCluster } from '../../support/kubernetes/api-server.ts';
import { rolesNotRead } from '../../support/kubernetes/refusals.ts';
import { waitForValue } from '../../support/patience.ts';

type Scene = { readonly cluster: StandInCluster; readonly client: ApiClient };

const SECRETS = '/api/v1/namespaces/berth/secrets';

async function scene(t: { testdir(): string; teardown(work: () => unknown): void }): Promise<Scene> {
  const cluster = await startStandInCluster();
  t.teardown(cluster.close);
  const kubeconfig = path.join(t.testdir(), 'config');
  await writeFile(kubeconfig, JSON.stringify(cluster.kubeconfig));
  const access = await clusterAccess({ kubeconfig, context: null, namespace: null });
  return { cluster, client: apiClient(access) };
}

const aSecret = (name: string) => ({ metadata: { name, labels: { of: 'test' } }, data: {} });

t.test('the kubeconfig names the server, the namespace and the credentials', async (t) => {
  const { cluster, client } = await scene(t);
  t.match(client.access, { server: cluster.url, namespace: 'berth' });
  t.match(await client.access.options(), { headers: { Authorization: 'Bearer a-token' } });
  const kubeconfig = path.join(t.testdir(), 'config');
  await writeFile(kubeconfig, JSON.stringify(cluster.kubeconfig));
  await t.rejects(clusterAccess({ kubeconfig, context: 'elsewhere', namespace: null }), {
    message: /has no context elsewhere/,
  });
  t.match(await clusterAccess({ kubeconfig, context: 'here', namespace: 'others' }), { namespace: 'others' });
});

t.test('refusals and broken connections have the words of the port', async (t) => {
  const { cluster, client } = await scene(t);
  const get = () => client.call(Bare, { method: 'GET', path: `${SECRETS}/one` });
  const create = () => client.call(Bare, { method: 'POST', path: SECRETS, body: aSecret('one') });
  await t.rejects(get(), { name: 'RuntimeFailure', status: 404, reason: 'NotFound' });
  t.equal(await orNull([404], get()), null);
  t.match(await create(), { metadata: { name: 'one' } });
  await t.rejects(create(), { name: 'RuntimeFailure', status: 409, reason: 'AlreadyExists' });
  const refuse = (status: number, reason: string) =>
    cluster.refuseNext('get', 'secrets', { status, reason, message: 'not now' });
  for (const status of [401, 500, 503, 504]) {
    refuse(status, 'Any');
    await t.rejects(get(), { name: 'RuntimeUnavailable' }, String(status));
  }
  refuse(429, 'TooManyRequests');
  await t.rejects(get(), { name: 'RuntimeBusy', code: 'engine_busy' });
  cluster.refuseNext('get', 'secrets', rolesNotRead('one'));
  await t.rejects(get(), { name: 'RightMissing', right: 'get secrets', message: /berth-containers/ });
  for (const [status, message] of [
    [500, rolesNotRead('one').message],
    [503, `a webhook says: ${rolesNotRead('one').message}`],
    [422, rolesNotRead('one').message],
    [403, `the rule says: ${rolesNotRead('one').message}`],
  ] as const) {
    cluster.refuseNext('get', 'secrets', { status, reason: 'Any', message });
    const name = status < 500 ? 'RuntimeFailure' : 'RuntimeUnavailable';
    await t.rejects(get(), { name }, `${status}: words of something else`);
  }
  t.ok(new RightMissing('', '') instanceof RuntimeUnavailable, 'as an API server says that has just started');
  refuse(403, 'Forbidden');
  const refused = await get().catch((error: unknown) => error);
  t.ok(refused instanceof ApiFailure && refused.status === 403);
  cluster.refuseNext('get', 'secrets', 'broken');
  await t.rejects(get(), { name: 'RuntimeUnavailable' });
  cluster.refuseNext('create', 'secrets', 'broken');
  await t.rejects(create(), { name: 'OutcomeUnknown' }, 'a change may have happened');
  await cluster.close();
  await t.rejects(create(), { name: 'RuntimeUnavailable' }, 'the request never left');
});

t.test('an answer of another shape is a fault', async (t) => {
  const { cluster, client } = await scene(t);
  cluster.store.create('secrets', { metadata: { name: 'one', labels: 'none' } });
  await t.rejects(client.call(Bare, { method: 'GET', path: `${SECRETS}/one` }), {
    name: 'RuntimeFailure',
    message: /labels/,
  });
});

t.test('a watch hints at changes, and after all that may hide some', async (t) => {
  const { cluster, client } = await scene(t);
  const watched = { path: SECRETS, labelSelector: 'of=test' };
  const { count, first, after } = hintsOf(t, (onHint) => watchObjects(client, watched, onHint));
  await first();
  await waitForValue(
    () => cluster.verbs.filter(({ verb }) => verb === 'watch').length,
    (count) => count > 0,
  );
  await after(() => cluster.store.create('secrets', aSecret('one')), 'after a change');
  const before = count();
  cluster.store.create('secrets', { metadata: { name: 'other' } });
  await after(() => cluster.store.remove('secrets', 'one'), 'after a removal');
  t.equal(count(), before + 1, 'other labels are none of it');
  cluster.cutWatches();
  await after(() => cluster.store.create('secrets', aSecret('two')), 'after a broken connection');
  const lists = () => cluster.verbs.filter(({ verb }) => verb === 'list').length;
  const listed = lists();
  cluster.cutWatches();
  cluster.store.compact();
  await after(() => undefined, 'after a forgotten position');
  t.ok(lists() > listed, 'the newest position is asked for');
});
