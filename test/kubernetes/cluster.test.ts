import t from 'tap';
import { kubectl, order, testCluster } from '../support/kubernetes/cluster.ts';
import { eventually } from '../support/patience.ts';

const PATIENCE_MS = 60_000;
const cluster = testCluster();

/** Whether the API server answers, and the node is ready. */
async function health(): Promise<string> {
  const path = '{.items[0].status.conditions[?(@.type=="Ready")].status}';
  return await kubectl(cluster, ['get', 'nodes', `--output=jsonpath=${path}`, '--request-timeout=5s']).catch(
    () => 'unreachable',
  );
}

const becomes = async (expected: string): Promise<string> =>
  await eventually(health, (seen) => seen === expected, { patienceMs: PATIENCE_MS, everyMs: 300 });

if (cluster.orders !== null) {
  t.test('a killed API server is started again with everything it had', async (t) => {
    await kubectl(cluster, ['create', 'configmap', 'kept', '--namespace=default']);
    await order(cluster, 'kill', 'kube-apiserver');
    t.equal(await becomes('unreachable'), 'unreachable');
    await order(cluster, 'start', 'kube-apiserver');
    t.equal(await becomes('True'), 'True');
    await t.resolves(kubectl(cluster, ['delete', 'configmap', 'kept', '--namespace=default']));
  });

  t.test('a node whose kubelet is silent is not ready until it answers again', async (t) => {
    await order(cluster, 'pause', 'kubelet');
    t.equal(await becomes('Unknown'), 'Unknown');
    await order(cluster, 'continue', 'kubelet');
    t.equal(await becomes('True'), 'True');
  });

  t.test('an unknown program takes no order', async (t) => {
    await t.rejects(order(cluster, 'kill', 'kube-proxy' as 'kubelet'), /does not kill/);
  });
}
