import t from 'tap';
import { namespaceOf } from '../../../src/adapters/kubernetes/client/namespace.ts';
import { mebibytes, millicores } from '../../../src/adapters/kubernetes/client/quantities.ts';
import { hostnameOf } from '../../../src/adapters/kubernetes/containers/names.ts';
import { resizeContainer } from '../../../src/adapters/kubernetes/containers/pod-resize.ts';
import { containerPods } from '../../../src/adapters/kubernetes/containers/pods.ts';
import { containerRecords } from '../../../src/adapters/kubernetes/containers/records.ts';
import { clusterWarmPool } from '../../../src/adapters/kubernetes/containers/warm-pool.ts';
import { networkPolicy } from '../../../src/adapters/kubernetes/network/network-policy.ts';
import type { RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import { containerDiskContract } from '../../contract/containers/container-disk.ts';
import { containerRuntimeContract } from '../../contract/containers/container-runtime.ts';
import { poolMemberContract } from '../../contract/containers/warm-pool.ts';
import { aSpec } from '../../support/engine/container.ts';
import { hintsOf } from '../../support/hints.ts';
import { clusterScene, startedIn } from '../../support/kubernetes/cluster-runtime.ts';
import { endProgram } from '../../support/kubernetes/kubelet.ts';
import { changed, fixedClass, lessMemory, overQuota, tooLarge } from '../../support/kubernetes/refusals.ts';
import { eventually } from '../../support/patience.ts';

const shared = await clusterScene(t);
await containerRuntimeContract('cluster', shared);
await containerDiskContract('cluster', shared);
await poolMemberContract('cluster', shared);

const QUICK = { patience: { startSeconds: 0.2, endSeconds: 0.2, removalSeconds: 0.2 } };

t.test('a Pod has no rights, no token, and no value of the environment in its text', async (t) => {
  const env = { TOKEN: 'a-secret', HOME: '/root', LANG: 'de_DE' };
  const scene = await startedIn(t, {}, { hostname: 'My-Box', env });
  const pod = scene.pod();
  t.match(pod['spec'], {
    hostname: 'my-box',
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
  });
  t.notOk(
    pod['spec'].tolerations.some((one: object) => 'tolerationSeconds' in one),
    'no Pod is evicted',
  );
  t.notMatch(JSON.stringify(pod), 'a-secret');
  const names = pod['spec'].containers[0].env.map(({ name }: { name: string }) => name);
  t.same(names, ['TOKEN', 'LANG', 'HOME'], 'HOME is the volume');
  const [ref] = pod['spec'].containers[0].env;
  const { name, key } = ref.valueFrom.secretKeyRef;
  t.equal(
    Buffer.from(scene.cluster.store.get('secrets', name)['data'][key], 'base64').toString(),
    'a-secret',
  );
});

t.test('a row has at most one Pod, whatever its generation', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t, QUICK);
  const spec = aSpec(image);
  const first = await runtime.create(spec);
  const second = await runtime.create({ ...spec, generation: 2 });
  await runtime.start(first);
  await t.rejects(runtime.start(second), { name: 'RuntimeFailure', message: /another container/ });
  t.equal(await runtime.stop(second, 1), 'stopped');
  await runtime.remove(second);
  t.equal((await runtime.observe(first)).kind, 'running', 'the removal of another generation spares it');
  const again = await runtime.create({ ...spec, generation: 2 });
  await runtime.stop(first, 1);
  await runtime.start(again);
  t.match(await runtime.observe(first), { kind: 'stopped' });
  t.match(await runtime.observe(again), { kind: 'running' });
  t.equal(cluster.store.all('pods').length, 1);
});

t.test('a Pod on a lost node is never given up for another', async (t) => {
  const { cluster, runtime, handle } = await startedIn(t, QUICK);
  const [before] = cluster.store.all('pods');
  cluster.node.isLost = true;
  const lost = { name: 'RuntimeBusy', code: 'container_unresponsive', cause: { message: /Pod|node/ } };
  await t.rejects(runtime.stop(handle, 0), lost);
  await t.rejects(runtime.start(handle), lost);
  await t.rejects(runtime.remove(handle), lost);
  const [after] = cluster.store.all('pods');
  t.equal(after?.metadata.uid, before?.metadata.uid, 'it may still run');
  t.match(await runtime.observe(handle), { kind: 'running', isEnding: true });
  t.match(await runtime.list(), [{ state: 'running', isEnding: true }]);
});

t.test('what runs on a node that does not answer is known to be so', async (t) => {
  const { cluster, runtime, spec, handle } = await startedIn(t);
  const conditions = (ready: string, containersReady: string) =>
    cluster.store.update('pods', `ws-${spec.dbId}`, (pod) => ({
      ...pod,
      status: {
        ...pod['status'],
        conditions: [
          { type: 'Ready', status: ready },
          { type: 'ContainersReady', status: containersReady },
        ],
      },
    }));
  for (const [ready, containersReady, isSilent] of [
    ['True', 'True', undefined],
    ['False', 'True', true],
    // By its kubelet, which answers.
    ['False', 'False', undefined],
  ] as const) {
    conditions(ready, containersReady);
    t.match(await runtime.observe(handle), { kind: 'running', isSilent });
    t.match(await runtime.list(), [{ state: 'running', isSilent }]);
  }
});

t.test('a stop answers when the programs have ended, and the next start waits for the old Pod', async (t) => {
  const { cluster, runtime, spec, handle } = await startedIn(t);
  cluster.node.removalMs = 300;
  const uid = () => cluster.store.find('pods', `ws-${spec.dbId}`)?.metadata.uid;
  const before = uid();
  t.equal(await runtime.stop(handle, 1), 'stopped');
  t.equal(uid(), before, 'its Pod is still being removed');
  t.match(await runtime.observe(handle), { kind: 'stopped' });
  await runtime.start(handle);
  t.not(uid(), before);
  await runtime.remove(handle);
  t.equal(uid(), undefined);
});

t.test('what has ended is stopped, and the next start replaces it', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t);
  const spec = aSpec(image);
  const handle = await runtime.create(spec);
  const hints = hintsOf(t, runtime.watch);
  await runtime.start(handle);
  await hints.first();
  await hints.after(() => endProgram(cluster.store, `ws-${spec.dbId}`, 3));
  t.same(await runtime.observe(handle), { kind: 'stopped', exitCode: 3 });
  t.match(await runtime.list(), [{ handle, dbId: spec.dbId, generation: 1, state: 'stopped' }]);
  await runtime.start(handle);
  t.match(await runtime.observe(handle), { kind: 'running' });
  cluster.store.remove('pods', `ws-${spec.dbId}`);
  t.match(await runtime.observe(handle), { kind: 'stopped' }, 'removed from outside');
});

t.test('a start that fails says why, and leaves no Pod', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t, QUICK);
  const gone = () =>
    eventually(
      () => cluster.store.all('pods').length,
      (count) => count === 0,
    );
  for (const missing of ['registry.example/none', 'berth/none']) {
    const handle = await runtime.create(aSpec(missing));
    await t.rejects(runtime.start(handle), { name: 'ImageUnavailable', message: /Image|pull/ }, missing);
    await gone();
    t.match(await runtime.observe(handle), { kind: 'stopped' });
  }
  const handle = await runtime.create(aSpec(image));
  cluster.refuseNext('create', 'pods', overQuota('any'));
  await t.rejects(runtime.start(handle), { name: 'EngineFull', message: /exceeded quota/ });
  cluster.node.isFull = true;
  await t.rejects(runtime.start(handle), { name: 'EngineFull', message: /Insufficient memory/ });
  await gone();
  cluster.node.isFull = false;
  cluster.store.remove(
    'persistentvolumeclaims',
    cluster.store.all('persistentvolumeclaims').at(-1)?.metadata.name ?? '',
  );
  await t.rejects(runtime.start(handle), { name: 'RuntimeFailure', message: /no such volume/ });
});

t.test('a Pod whose record was removed from outside is still ended', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t);
  for (const end of [(one: RuntimeHandle) => runtime.stop(one, 1), runtime.remove]) {
    const handle = await runtime.create(aSpec(image));
    await runtime.start(handle);
    for (const { metadata } of cluster.store.all('secrets')) cluster.store.remove('secrets', metadata.name);
    t.match(await runtime.observe(handle), { kind: 'running' });
    t.match(await runtime.list(), [{ handle, generation: 1, state: 'running' }]);
    await end(handle);
    t.same(await runtime.list(), []);
    t.same(cluster.store.all('pods'), []);
    t.match(await runtime.observe(handle), { kind: 'gone' });
  }
});

t.test('a creation that a quota refuses is not taken for one that exists', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t);
  for (const resource of ['persistentvolumeclaims', 'secrets']) {
    cluster.refuseNext('create', resource, changed('resourcequotas', 'berth'));
    await t.rejects(runtime.create(aSpec(image)), { name: 'RuntimeBusy', code: 'engine_busy' }, resource);
    cluster.refuseNext('create', resource, overQuota('any'));
    await t.rejects(runtime.create(aSpec(image)), { name: 'EngineFull' }, resource);
  }
});

t.test('a start, a resize and a stop outlast a moment without the API server', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t);
  const handle = await runtime.create(aSpec(image));
  cluster.refuseNext('get', 'pods', 'broken');
  await runtime.start(handle);
  t.match(await runtime.observe(handle), { kind: 'running' });
  let isAsked = false;
  cluster.store.watch(cluster.store.position, ({ object }) => {
    if (isAsked || object.metadata['deletionTimestamp'] === undefined) return;
    isAsked = true;
    cluster.refuseNext('get', 'pods', 'broken');
  });
  cluster.refuseNext('get', 'pods', 'broken');
  await runtime.resize(handle, { ...aSpec(image).resources, memoryMb: 1024 });
  t.equal(await runtime.stop(handle, 1), 'stopped');
  t.ok(isAsked);
});

t.test('a broken connection leaves every step repeatable', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t);
  const spec = aSpec(image);
  const broken = async <T>(verb: string, resource: string, step: () => Promise<T>): Promise<T> => {
    cluster.refuseNext(verb, resource, 'broken');
    await t.rejects(step(), { name: /RuntimeUnavailable|OutcomeUnknown/ }, `${verb} ${resource}`);
    return await step();
  };
  await broken('create', 'persistentvolumeclaims', () => runtime.create(spec));
  const handle = await broken('create', 'secrets', () => runtime.create(spec));
  await broken('create', 'pods', () => runtime.start(handle));
  await broken('get', 'pods', () => runtime.start(handle));
  await broken('delete', 'pods', () => runtime.stop(handle, 1));
  await broken('delete', 'secrets', () => runtime.remove(handle));
  t.same(await runtime.list(), []);
});

t.test('limits change at once where the cluster can, else with the next Pod', async (t) => {
  const { cluster, runtime, spec, handle, pod } = await startedIn(t);
  const limits = () => pod()['spec'].containers[0].resources.limits;
  await runtime.resize(handle, { ...spec.resources, memoryMb: 1024 });
  t.match(limits(), { memory: '1024Mi', cpu: '2000m', 'ephemeral-storage': '8192Mi' });
  cluster.hasResize = false;
  await runtime.resize(handle, { ...spec.resources, memoryMb: 2048 });
  t.match(limits(), { memory: '1024Mi' });
  await runtime.stop(handle, 1);
  await runtime.start(handle);
  t.match(limits(), { memory: '2048Mi' });
});

t.test('limits that the node cannot give a running Pod are given to a new one', async (t) => {
  const { cluster, client, settings, runtime, spec, handle, pod } = await startedIn(t);
  const memory = () => pod()['status'].containerStatuses[0].resources.limits.memory;
  cluster.node.resizes = 'Infeasible';
  await runtime.resize(handle, { ...spec.resources, memoryMb: 1024 });
  t.equal(memory(), '1024Mi');
  cluster.refuseNext('patch', 'pods/resize', tooLarge(`ws-${spec.dbId}`));
  await runtime.resize(handle, { ...spec.resources, memoryMb: 2048 });
  t.equal(memory(), '2048Mi', 'refused at once');
  cluster.refuseNext('patch', 'pods/resize', lessMemory(`ws-${spec.dbId}`));
  await runtime.resize(handle, { ...spec.resources, memoryMb: 256 });
  t.equal(memory(), '256Mi', 'less memory, where only a new Pod may have it');
  cluster.node.resizes = 'Deferred';
  const namespace = namespaceOf(client);
  const record = await containerRecords(namespace, settings.instanceId).require(handle.runtimeId);
  const resources = { ...record.spec.resources, memoryMb: 4096, cpuMillicores: 500 };
  const before = pod().metadata.uid;
  const pods = containerPods(namespace, settings);
  const wanted = { ...record, spec: { ...record.spec, resources } };
  await resizeContainer(namespace, pods, wanted, { withinMs: 50, everyMs: 5 });
  t.not(pod().metadata.uid, before);
  t.match(pod()['status'].containerStatuses[0].resources.limits, { memory: '4096Mi', cpu: '500m' });
  t.same(['1', '1.5', '250m', '1k'].map(millicores), [1000, 1500, 250, null]);
});

t.test('a volume is counted within the time that its caller gives', async (t) => {
  const measure = async (_: unknown, withinSeconds = 120) => withinSeconds;
  const { runtime, spec, handle, image } = await startedIn(t, { disk: { quota: 'soft', measure } });
  const used = (withinSeconds?: number) =>
    runtime.usedBytes(spec.volume, { image, running: handle, withinSeconds });
  t.same([await used(), await used(3)], [120, 3]);
});

t.test('a volume of fixed size does not become smaller, nor larger than its class can', async (t) => {
  const disk = { quota: 'hard', measure: async () => null } as const;
  const { cluster, runtime, image } = await clusterScene(t, { disk });
  const spec = aSpec(image);
  await runtime.create(spec);
  const facts = (diskMb?: number) => runtime.volumeFacts(spec.volume, diskMb);
  t.same(await facts(), { quota: 'hard', isResizable: true });
  t.same(await facts(512), { quota: 'hard', isResizable: true, minMb: 512 });
  const claim = () => cluster.store.get('persistentvolumeclaims', spec.volume)['spec'];
  t.match(await facts(1024), { isResizable: true });
  t.equal(claim().resources.requests.storage, '512Mi', 'a question changes nothing');
  cluster.refuseNext('patch', 'persistentvolumeclaims', fixedClass(spec.volume));
  t.match(await facts(1024), { isResizable: false });
  const soft = await clusterScene(t);
  const other = aSpec(image);
  await soft.runtime.create(other);
  t.same(await soft.runtime.volumeFacts(other.volume, 64), { quota: 'soft', isResizable: true });
});

t.test('a volume grows with its container, and never shrinks', async (t) => {
  const { cluster, runtime, image } = await clusterScene(t, { storageClass: 'fast' });
  const spec = aSpec(image);
  await runtime.create(spec);
  const claim = () => cluster.store.get('persistentvolumeclaims', spec.volume)['spec'];
  t.match(claim(), { storageClassName: 'fast', accessModes: ['ReadWriteOnce'] });
  for (const [generation, diskMb, has] of [
    [2, 1024, '1024Mi'],
    [3, 256, '1024Mi'],
  ] as const) {
    const handle = await runtime.create({ ...spec, generation, resources: { ...spec.resources, diskMb } });
    await runtime.start(handle);
    t.equal(claim().resources.requests.storage, has);
    await runtime.remove(handle);
  }
  t.same(['512Mi', '1Gi', '1000k', '1048576', '1e3', 'much'].map(mebibytes), [
    512,
    1024,
    1000e3 / 1024 ** 2,
    1,
    null,
    null,
  ]);
});

t.test("another installation's objects are left alone", async (t) => {
  const { cluster, runtime, spec, handle } = await startedIn(t);
  const rename = (resource: string, name: string) =>
    cluster.store.update(resource, name, (object) => ({
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata['labels'], 'berth.instance': 'other' } },
    }));
  rename('pods', `ws-${spec.dbId}`);
  const steps: readonly (() => Promise<unknown>)[] = [
    () => runtime.start(handle),
    () => runtime.stop(handle, 1),
    () => runtime.remove(handle),
  ];
  for (const step of steps) await t.rejects(step(), { name: 'RuntimeFailure', message: /does not belong/ });
  t.match(await runtime.observe(handle), { kind: 'stopped' });
  rename('persistentvolumeclaims', spec.volume);
  await t.rejects(runtime.removeVolume(spec.volume), { name: 'RuntimeFailure' });
  rename('secrets', cluster.store.all('secrets')[0]?.metadata.name ?? '');
  await t.rejects(runtime.remove(handle), { name: 'RuntimeFailure', message: /does not belong/ });
  t.same(await runtime.list(), []);
});

t.test('long lists come in pages', async (t) => {
  const { cluster, runtime } = await clusterScene(t);
  const labels = { 'berth.instance': '2f1d3c5e-0000-4000-8000-000000000001', 'berth.generation': '1' };
  for (let n = 0; n < 1001; n += 1)
    cluster.store.create('secrets', {
      metadata: { name: `ws-${n}`, labels: { ...labels, 'berth.db_id': `${n}` } },
    });
  t.equal((await runtime.list()).length, 1001);
});

t.test('the network policy is restored, and a foreign change is reported once', async (t) => {
  const { cluster, client } = await clusterScene(t);
  const assert = networkPolicy(namespaceOf(client), 'an-installation');
  const policy = () => cluster.store.all('networkpolicies')[0];
  t.same(await assert(), []);
  const before = policy()?.['spec'];
  t.match(before, { podSelector: { matchLabels: { 'berth.instance': 'an-installation' } } });
  const ofCheck = cluster.store.all('networkpolicies')[1]?.['spec'];
  t.same(
    { ...ofCheck, podSelector: { matchLabels: { 'berth.canary-of': 'an-installation' } } },
    { ...before, podSelector: ofCheck?.podSelector },
    'the isolation check meets the same rules',
  );
  t.same(await assert(), []);
  cluster.store.update('networkpolicies', policy()?.metadata.name ?? '', (one) => ({ ...one, spec: {} }));
  t.match(await assert(), [/NetworkPolicy/]);
  t.same(policy()?.['spec'], before);
  cluster.store.remove('networkpolicies', policy()?.metadata.name ?? '');
  t.match(await assert(), [/NetworkPolicy/]);
  t.same(await assert(), []);
});

t.test('host names are as clusters take them', async (t) => {
  const cases = { Box: 'box', '-a-': 'a', '---': 'workspace', [`${'x'.repeat(62)}-y`]: 'x'.repeat(62) };
  for (const [name, host] of Object.entries(cases)) t.equal(hostnameOf(name), host);
});

t.test('a warm pool needs limits that change at once', async (t) => {
  const { cluster, client } = await clusterScene(t);
  cluster.refuseNext('list', '', { status: 503, reason: 'ServiceUnavailable', message: 'not now' });
  const pool = clusterWarmPool(client);
  await t.rejects(pool.namedImage('an-image'), { name: 'RuntimeUnavailable' });
  t.same(await pool.namedImage('an-image'), { id: 'an-image', isOlder: false });
  cluster.hasResize = false;
  t.equal(await clusterWarmPool(client).namedImage('an-image'), null);
});

t.test('what a cluster cannot do is declared and refused', async (t) => {
  const { runtime, image } = shared;
  const handle = await runtime.create(aSpec(image));
  t.same(runtime.capabilities, {
    keepsLayer: false,
    takesSnapshots: false,
    measuresDisk: false,
    hasRoot: false,
  });
  const spec = aSpec(image);
  const acts: readonly (() => Promise<unknown>)[] = [
    () => runtime.pause(handle),
    () => runtime.capture(handle, spec),
    () => runtime.copyVolume(spec.volume, spec),
  ];
  for (const act of acts) await t.rejects(act(), { name: 'NotOffered' });
  t.same(await runtime.layerImages(), []);
  t.equal(await runtime.endHung(handle), false);
});
