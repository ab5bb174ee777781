/** A real cluster with containers of the service, whose terminals open both through the service and without it. */
import { randomUUID } from 'node:crypto';
import { apiClient } from '../../../../src/adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../../../src/adapters/kubernetes/client/cluster-access.ts';
import { clusterInside } from '../../../../src/adapters/kubernetes/container-inside.ts';
import { podOfContainer } from '../../../../src/adapters/kubernetes/containers/names.ts';
import { MAIN } from '../../../../src/adapters/kubernetes/containers/pod-states.ts';
import { openExecSocket } from '../../../../src/adapters/kubernetes/exec/exec-socket.ts';
import { installationOf } from '../../../support/engine/instance.ts';
import { kubectl, testCluster } from '../../../support/kubernetes/cluster.ts';
import { administrator } from '../load.ts';
import { emptyDatabase, startWholeService } from '../whole-service.ts';
import { aRequest, bareLine, type Line, lineOf, parts, type Scene } from './scene.ts';

/** Needs `TEST_KUBERNETES`, as `npm run test:kubernetes -- --cluster` prints it. */
export async function aClusterScene(): Promise<Scene> {
  const cluster = testCluster();
  const { kubeconfig, namespace } = cluster;
  const access = await clusterAccess({ kubeconfig, context: null, namespace });
  const database = await emptyDatabase();
  const service = await startWholeService({
    BERTH_ENGINE: 'kubernetes',
    KUBECONFIG: kubeconfig,
    BERTH_KUBERNETES_NAMESPACE: namespace,
    DATABASE_URL: database.url,
  });
  const instance = await installationOf('', database.url);
  const { terminals } = clusterInside({
    client: apiClient(access),
    observe: async () => ({ kind: 'running', startedAt: new Date(0) }),
    node: 'bench',
  });
  /** Inside tmux by the adapter, which starts the same programs; a plain shell by the API server's stream alone. */
  async function bare(runtimeId: string, pane: string, hasTmux: boolean): Promise<Line> {
    if (hasTmux) return bareLine(await terminals.open({ node: 'bench', runtimeId }, aRequest(pane)));
    const target = { pod: podOfContainer(runtimeId), container: MAIN };
    const { socket } = await openExecSocket(access, {
      ...target,
      command: ['/bin/bash', '-l'],
      isTerminal: true,
    });
    let take = (_chunk: Buffer): void => {};
    socket.on('message', (data: Buffer) => data[0] === 1 && take(data.subarray(1)));
    socket.resume();
    return lineOf({
      write: (text) => socket.send(Buffer.concat([Buffer.from([0]), Buffer.from(text)])),
      read: (next) => {
        take = next;
      },
      stopReading: () => socket.pause(),
      close: async () => socket.terminate(),
    });
  }
  const admin = await administrator(service.address, service.setupCode);
  return {
    service,
    endpoint: '',
    ...parts(admin, { address: service.address, token: admin.token ?? '' }, (box, pane = randomUUID()) =>
      bare(box.runtimeId, pane, box.hasTmux),
    ),
    async stop() {
      await service.stop();
      const all = ['pods,secrets,persistentvolumeclaims', '-l', `berth.instance=${instance}`];
      await kubectl(cluster, ['-n', namespace, 'delete', ...all, '--wait=false']);
      await database.stop();
    },
  };
}
