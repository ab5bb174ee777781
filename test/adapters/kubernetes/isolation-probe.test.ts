import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { clusterCanary } from '../../../src/adapters/kubernetes/network/isolation-probe.ts';
import { clusterScene } from '../../support/kubernetes/cluster-runtime.ts';
import { runHere } from '../../support/kubernetes/exec-programs.ts';
import { startExecServer } from '../../support/kubernetes/exec-server.ts';

/** In the place of perl, which dials: `-e SCRIPT TARGET...` prints the targets in a file, from the second time in another. */
const PERL = `#!/bin/sh
shift 2
for each; do grep -Fx "$each" "$REACHES"; done
[ ! -e "$REACHES.then" ] || mv "$REACHES.then" "$REACHES"
`;

const SERVICE = '10.96.0.1';
const KUBELET = '192.168.7.1:10250';
const METADATA = '169.254.169.254:80';
const PODS = [1, 2, 3, 4, 5, 6].map((n) => `10.244.0.${n}:8099`);
const QUICK = { withinMs: 2_000, everyMs: 10 };

type Network = {
  /** What the canary reaches, at first and later. */
  readonly reaches: readonly string[];
  readonly later?: readonly string[];
  /** What the neighbour reaches. */
  readonly itself?: readonly string[];
  readonly withinMs?: number;
};

/** A check in a cluster whose network is as given. Addresses of Pods are taken as they come: either may be first. */
async function aCheck(t: Test, { reaches, later, itself = PODS, withinMs }: Network) {
  const scene = await clusterScene(t);
  const { cluster, client, settings, image } = scene;
  const folder = t.testdir();
  const files = { perl: PERL, canary: reaches.join('\n'), neighbour: itself.join('\n') };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  if (later !== undefined) writeFileSync(path.join(folder, 'canary.then'), later.join('\n'));
  chmodSync(path.join(folder, 'perl'), 0o755);
  const isNeighbour = (pod: string): boolean =>
    cluster.store.get('pods', pod)['spec'].containers[0].command.includes('perl');
  const execs = await startExecServer(t, {
    protocol: 'v5.channel.k8s.io',
    run: (request) => {
      const reach = path.join(folder, isNeighbour(request.pod) ? 'neighbour' : 'canary');
      const env = [
        `PATH=${folder}:${process.env['PATH']}`,
        `REACHES=${reach}`,
        `KUBERNETES_SERVICE_HOST=${SERVICE}`,
        'KUBERNETES_SERVICE_PORT=443',
      ];
      return runHere({ ...request, command: ['env', ...env, ...request.command] });
    },
  });
  const own = { instanceId: settings.instanceId, image };
  const limits = withinMs === undefined ? QUICK : { ...QUICK, withinMs };
  const canary = clusterCanary({ ...client, access: execs.access }, own, limits);
  return { ...scene, canary };
}

t.test('a closed network is found closed by two Pods like those of containers', async (t) => {
  const { canary, cluster, runtime, settings } = await aCheck(t, { reaches: [] });
  const made: { metadata: { labels: object }; spec: { automountServiceAccountToken: boolean } }[] = [];
  let listed: Promise<unknown> = Promise.resolve([]);
  cluster.store.watch(cluster.store.position, ({ type, resource, object }) => {
    if (type !== 'ADDED' || resource !== 'pods') return;
    made.push(object as never);
    listed = runtime.list();
  });
  t.same(await canary.prove(), []);
  t.equal(made.length, 2);
  for (const { metadata, spec } of made) {
    t.match(metadata.labels, { 'berth.canary-of': settings.instanceId }, 'a network policy selects it');
    t.notOk('berth.instance' in metadata.labels, 'also older versions do not take it for a container');
    t.equal(spec.automountServiceAccountToken, false);
  }
  t.same(await listed, [], 'neither is a container');
});

t.test('what is open is named, and no Pod is left', async (t) => {
  const around = [KUBELET, `${SERVICE}:443`, METADATA];
  const reaches = [...PODS, ...around];
  const { canary, cluster } = await aCheck(t, { reaches, withinMs: 0 });
  t.match(await canary.prove(), [
    { what: 'neighbour', at: /^10\.244\.0\.\d:8099$/ },
    { what: 'node', at: KUBELET },
    { what: 'cluster', at: `${SERVICE}:443` },
    { what: 'metadata', at: METADATA },
  ]);
  t.ok(
    cluster.store.all('pods').every(({ metadata }) => metadata['deletionTimestamp'] !== undefined),
    'each is being removed',
  );
});

t.test('a policy that is enforced only after a moment is no opening', async (t) => {
  const { canary } = await aCheck(t, { reaches: [`${SERVICE}:443`], later: [] });
  t.same(await canary.prove(), []);
});

t.test('without its control a check proves nothing', async (t) => {
  const { canary } = await aCheck(t, { reaches: [], itself: [] });
  await t.rejects(canary.prove(), /does not respond to itself/);
});

t.test('an image that no node has is named, and a stopped check starts nothing', async (t) => {
  const { canary, cluster, image } = await aCheck(t, { reaches: [] });
  cluster.node.images.delete(image);
  await t.rejects(canary.prove(), /needs its image: ImagePullBackOff/);
  cluster.node.images.add(image);
  await canary.stop();
  await t.rejects(canary.prove(), /was stopped/);
});

t.test('a check gives up when one of its Pods is refused, and leaves none', async (t) => {
  const { canary, cluster } = await aCheck(t, { reaches: [] });
  const message = 'pods "berth-canary" is forbidden: exceeded quota: berth';
  cluster.refuseNext('create', 'pods', { status: 403, reason: 'Forbidden', message });
  await t.rejects(canary.prove(), /exceeded quota/);
  const isLeft = cluster.store
    .all('pods')
    .some(({ metadata }) => metadata['deletionTimestamp'] === undefined);
  t.equal(isLeft, false);
  cluster.node.isFull = true;
  await t.rejects(canary.prove(), /no room in the cluster: .*Insufficient memory/);
});

t.test('Pods of a killed process are removed by the next check, not what another may use', async (t) => {
  const { canary, cluster, settings, image } = await aCheck(t, { reaches: [] });
  const leave = (name: string, status: object, volumes: readonly object[] = []): void => {
    const labels = { 'berth.canary-of': settings.instanceId };
    cluster.store.create('pods', {
      metadata: { name, labels },
      spec: { containers: [{ name, image }], volumes },
      status: {},
    });
    cluster.store.update('pods', name, (one) => ({ ...one, status }));
  };
  leave('starting', { phase: 'Pending' });
  const unbound = [{ persistentVolumeClaim: { claimName: 'none' } }];
  leave('ended', { phase: 'Failed' }, unbound);
  const unplaced = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
  leave('unplaced', { phase: 'Pending', conditions: [unplaced] }, unbound);
  await canary.prove();
  const isLeft = (name: string): boolean =>
    cluster.store.find('pods', name)?.metadata['deletionTimestamp'] === undefined &&
    cluster.store.find('pods', name) !== null;
  t.same([isLeft('ended'), isLeft('unplaced'), isLeft('starting')], [false, false, true]);
});
