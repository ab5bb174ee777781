import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { type ApiClient, apiClient } from '../../src/adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../src/adapters/kubernetes/client/cluster-access.ts';
import { namespaceOf } from '../../src/adapters/kubernetes/client/namespace.ts';
import { clusterRuntime } from '../../src/adapters/kubernetes/containers/container-runtime.ts';
import { networkPolicy } from '../../src/adapters/kubernetes/network/network-policy.ts';
import { containerDiskContract } from '../contract/containers/container-disk.ts';
import { containerRuntimeContract } from '../contract/containers/container-runtime.ts';
import { poolMemberContract } from '../contract/containers/warm-pool.ts';
import { aSpec, started } from '../support/engine/container.ts';
import { hintsOf } from '../support/hints.ts';
import { kubectl, order, testCluster } from '../support/kubernetes/cluster.ts';
import { waitFor, waitForValue } from '../support/patience.ts';

const cluster = testCluster();
const { kubeconfig, namespace } = cluster;
const image = 'berth/debian:12';
const instanceId = randomUUID();
const client = apiClient(await clusterAccess({ kubeconfig, context: null, namespace }));
const settings = { instanceId, node: 'cluster', storageClass: null };
const disk = { quota: 'soft', measure: async () => 4096 } as const;
const runtime = clusterRuntime(client, { ...settings, disk });

const podsOf = async (dbId: string) =>
  JSON.parse(
    await kubectl(cluster, ['-n', namespace, 'get', 'pods', '-l', `berth.db_id=${dbId}`, '-o', 'json']),
  ).items as readonly {
    readonly metadata: { readonly uid: string };
    readonly spec: {
      readonly containers: readonly {
        readonly resources: { readonly limits: { readonly memory: string } };
      }[];
    };
  }[];

await containerRuntimeContract('a real cluster', { runtime, image });
await containerDiskContract('a real cluster', { runtime, image });
await poolMemberContract('a real cluster', { runtime, image });

t.test('images that nobody has are reported, and no Pod is left', async (t) => {
  const spec = aSpec('berth/none:1');
  const handle = await runtime.create(spec);
  await t.rejects(runtime.start(handle), { name: 'ImageUnavailable' });
  await waitForValue(
    () => podsOf(spec.dbId),
    ({ length }) => length === 0,
    // Older kubelets take most of a minute for a Pod that never ran.
    { patienceMs: 120_000 },
  );
  await runtime.remove(handle);
  await runtime.removeVolume(spec.volume);
});

t.test('a Pod removed from outside is stopped, hinted at, and started again', async (t) => {
  const spec = aSpec(image);
  const handle = await started(t, runtime, spec);
  const hints = hintsOf(t, runtime.watch);
  await hints.first();
  await hints.after(() =>
    kubectl(cluster, ['-n', namespace, 'delete', 'pod', `ws-${spec.dbId}`, '--grace-period=1']),
  );
  t.match(await runtime.observe(handle), { kind: 'stopped' });
  await runtime.start(handle);
  t.match(await runtime.observe(handle), { kind: 'running' });
});

t.test('limits and sizes are as the server lets them change', async (t) => {
  const hard = clusterRuntime(client, { ...settings, disk: { ...disk, quota: 'hard' } });
  const spec = aSpec(image);
  const handle = await started(t, hard, spec);
  const memory = async () => {
    const [pod] = await podsOf(spec.dbId);
    return pod?.spec.containers[0]?.resources.limits.memory;
  };
  await hard.resize(handle, { ...spec.resources, memoryMb: 320, diskMb: 640 });
  await hard.stop(handle, 1);
  await hard.start(handle);
  t.equal(await memory(), '320Mi', 'at once, or with the next Pod');
  // The storage class of the tests' own cluster has folders of no size.
  const { isResizable, minMb } = (await hard.volumeFacts(spec.volume, 1024)) ?? {};
  const asked = JSON.parse(
    await kubectl(cluster, ['-n', namespace, 'get', 'pvc', spec.volume, '-o', 'json']),
  );
  t.equal(asked.spec.resources.requests.storage, isResizable ? '640Mi' : '512Mi');
  t.equal(minMb, isResizable ? 640 : 512, 'it cannot shrink');
});

t.test('the network policy is as the server keeps it', async (t) => {
  const assert = networkPolicy(namespaceOf(client), instanceId);
  t.same(await assert(), []);
  t.same(await assert(), [], 'nothing differs');
  const name = `berth-workspaces-${instanceId.slice(0, 8)}`;
  const patch = '{"spec":{"ingress":[{}]}}';
  await kubectl(cluster, ['-n', namespace, 'patch', 'networkpolicy', name, '--type=merge', '-p', patch]);
  t.match(await assert(), [/NetworkPolicy/]);
  t.same(await assert(), []);
  await kubectl(cluster, ['-n', namespace, 'delete', 'networkpolicy', name]);
});

t.test('a killed API server makes no second Pod', { skip: cluster.orders === null }, async (t) => {
  const spec = aSpec(image);
  const handle = await runtime.create(spec);
  const starting = runtime.start(handle).catch((error: unknown) => error);
  await order(cluster, 'kill', 'kube-apiserver');
  t.match((await starting) ?? { name: 'RuntimeUnavailable' }, { name: /RuntimeUnavailable|OutcomeUnknown/ });
  await t.rejects(runtime.observe(handle), { name: 'RuntimeUnavailable' });
  await order(cluster, 'start', 'kube-apiserver');
  await waitForValue(
    () =>
      runtime.ping().then(
        () => true,
        () => false,
      ),
    (answers) => answers,
    { patienceMs: 60_000 },
  );
  await runtime.start(handle);
  t.equal((await podsOf(spec.dbId)).length, 1);
  await runtime.remove(handle);
  await runtime.removeVolume(spec.volume);
});

t.test('a watch from a position that the server has forgotten begins again', async (t) => {
  const query = { watch: 'true', resourceVersion: '1', timeoutSeconds: '5' };
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const first = client.stream({ method: 'GET', path, query }, AbortSignal.timeout(10_000));
  const answer = await first.then(text, (error: unknown) => String(error));
  t.match(answer, /410/, 'as this server says it');
  let watches = 0;
  const forgetful: ApiClient = {
    ...client,
    stream(call, signal) {
      watches += 1;
      const position = watches === 1 ? { resourceVersion: '1' } : {};
      return client.stream({ ...call, query: { ...call.query, ...position } }, signal);
    },
  };
  const hints = hintsOf(t, (onHint) =>
    namespaceOf(forgetful).watch('pods', `berth.instance=${instanceId}`, onHint),
  );
  await waitFor(() => watches > 1);
  await hints.after(() => started(t, runtime, aSpec(image)));
  t.equal(watches, 2, 'the second one tells of changes');
});
