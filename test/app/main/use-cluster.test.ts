import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import t from 'tap';
import { memoryStorage } from '../../../src/adapters/memory/storage.ts';
import { readConfig } from '../../../src/app/main/config.ts';
import { useCluster } from '../../../src/app/main/engine/use-cluster.ts';
import { aSpec } from '../../support/engine/container.ts';
import { aFolder } from '../../support/folder.ts';
import { startStandInCluster } from '../../support/kubernetes/api-server.ts';
import { notAllowed } from '../../support/kubernetes/refusals.ts';
import { waitForValue } from '../../support/patience.ts';

t.test('a cluster that does not answer is tried again, and then used', async (t) => {
  const cluster = await startStandInCluster();
  t.teardown(cluster.close);
  cluster.node.images.add('an-image');
  const kubeconfig = path.join(t.testdir(), 'config');
  await writeFile(kubeconfig, JSON.stringify(cluster.kubeconfig));
  const read = readConfig({
    BERTH_DATA_DIR: aFolder(t),
    BERTH_ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    BERTH_DISK_QUOTA: 'hard',
  });
  if ('faults' in read) throw new Error(read.faults.join());
  const said: string[] = [];
  const faults: string[] = [];
  const say = (...received: readonly unknown[]): void => {
    said.push(String(received.at(-1)));
    faults.push(String((received[0] as { readonly err?: unknown }).err));
  };
  let stop = async (): Promise<void> => {};
  let hints = 0;
  const { installation } = memoryStorage({ now: () => new Date() }).repositories;
  await installation.changeSwarm('a-swarm');
  cluster.refuseNext('list', 'pods', { status: 503, reason: 'ServiceUnavailable', message: 'starting' });
  const { parts, runtime } = await useCluster(
    (given) => {
      stop = given;
    },
    {
      config: read.config,
      log: { info: say, warn: say, error: say },
      signal: new AbortController().signal,
      instanceId: 'an-installation',
      baseImage: null,
      isPausing: async () => false,
      metrics: { watch: () => {}, engineWaited: () => {} },
      onHint: () => {
        hints += 1;
      },
      installation,
      againMs: 10,
    },
  );
  t.teardown(() => stop());
  t.match(parts.engine, { status: 'degraded', reason: 'unusable', mend: /`berth use-swarm --id none`/ });
  t.match(said, ['the cluster is not usable']);
  t.match(faults, [/the containers are in the Swarm a-swarm: set BERTH_ENGINE=swarm/]);
  await installation.changeSwarm(null);
  const forbidden = { status: 403, reason: 'Forbidden', message: notAllowed('list', 'pods') };
  // Long enough to be seen.
  for (let n = 0; n < 50; n += 1) cluster.refuseNext('list', 'pods', forbidden);
  const detail = 'Berth lacks a right in the cluster: list pods';
  await waitForValue(
    () => parts.engine,
    (part) => part.detail === detail && part.mend === 'grant it: see docs/cluster.md',
  );
  await t.rejects(runtime.list(), { name: 'RuntimeUnavailable' });
  t.match(runtime.capabilities, { keepsLayer: false }, 'known before it answers');
  await waitForValue(
    () => parts.engine.status,
    (status) => status === 'ready',
  );
  t.match(parts, { engine: { detail: /namespace berth/ }, disk: { detail: /^hard: / } });
  t.equal(cluster.store.all('networkpolicies').length, 2, 'isolated before the first container');
  t.match(runtime, { diskQuota: 'hard', capabilities: { keepsLayer: false } });
  await runtime.start(await runtime.create(aSpec('an-image')));
  await waitForValue(
    () => hints,
    (count) => count > 0,
  );
});
