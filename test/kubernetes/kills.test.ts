import t from 'tap';
import { testCluster } from '../support/kubernetes/cluster.ts';
import { clusterSeen } from '../support/kubernetes/cluster-seen.ts';
import { anInstallationIn } from '../support/kubernetes/installation.ts';
import { watchPods } from '../support/kubernetes/pod-witness.ts';
import { killInEveryOperation } from '../support/process/operation-kills.ts';

/** A kubelet of 1.20 takes most of a minute to remove a Pod, for which the next start waits. */
const PATIENCE_MS = 240_000;
const cluster = testCluster();

t.setTimeout(2_400_000);
t.test('Berth killed in the midst of everything', { timeout: 2_400_000 }, async (t) => {
  const set = await anInstallationIn(t, cluster);
  if (set === null) return;
  const witness = watchPods(t, cluster);
  const engine = clusterSeen(cluster);
  const deaths = await killInEveryOperation(t, set, { engine, patienceMs: PATIENCE_MS });
  t.ok(witness.seen() > deaths, 'Pods were watched');
  t.same(witness.faults(), [], 'never two Pods of one container');
});
