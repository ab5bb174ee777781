import t from 'tap';
import { killInEveryOperation } from '../support/process/operation-kills.ts';
import { swarmCluster } from '../support/swarm/cluster.ts';
import { anInstallationIn } from '../support/swarm/installation.ts';
import { swarmSeen } from '../support/swarm/swarm-seen.ts';
import { watchTasks } from '../support/swarm/task-witness.ts';

const PATIENCE_MS = 120_000;
const cluster = swarmCluster();

t.setTimeout(2_400_000);
t.test('Berth killed in the midst of everything', { timeout: 2_400_000 }, async (t) => {
  const set = await anInstallationIn(t, cluster);
  if (set === null) return;
  const witness = watchTasks(t, cluster);
  const deaths = await killInEveryOperation(t, set, { engine: swarmSeen(cluster), patienceMs: PATIENCE_MS });
  t.ok(witness.seen() > deaths, 'tasks were watched');
  t.same(witness.faults(), [], 'never two tasks of one container');
});
