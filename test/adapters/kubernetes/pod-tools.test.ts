import t from 'tap';
import { aSpec } from '../../support/engine/container.ts';
import { clusterScene } from '../../support/kubernetes/cluster-runtime.ts';

const toolsImage = 'registry.example/base:1';

t.test(
  'an image without tmux gets it from the base image, confined like everything in its Pod',
  async (t) => {
    const { cluster, runtime, image } = await clusterScene(t, { toolsImage });
    cluster.node.images.add(toolsImage);
    const spec = aSpec(image);
    await runtime.start(await runtime.create(spec));
    const { initContainers, containers, volumes } = cluster.store.get('pods', `ws-${spec.dbId}`)['spec'];
    const [fills] = initContainers;
    t.match(fills, { image: toolsImage, volumeMounts: [{ name: 'tools', mountPath: '/opt/berth' }] });
    t.same(fills.securityContext, containers[0].securityContext);
    t.same(fills.resources, containers[0].resources, 'it needs no more room than what follows it');
    t.match(
      containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'tools'),
      { mountPath: '/opt/berth', readOnly: true },
    );
    t.ok(volumes.some(({ name }: { name: string }) => name === 'tools'));
  },
);

t.test('the base image itself needs none, and others have none without it', async (t) => {
  for (const given of [{ toolsImage: 'registry.example/box:1' }, { toolsImage: null }]) {
    const { cluster, runtime, image } = await clusterScene(t, given);
    const spec = aSpec(image);
    await runtime.start(await runtime.create(spec));
    const { initContainers, volumes } = cluster.store.get('pods', `ws-${spec.dbId}`)['spec'];
    t.same(initContainers, []);
    t.notOk(volumes.some(({ name }: { name: string }) => name === 'tools'));
  }
});
