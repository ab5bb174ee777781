import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import { freshDatabase } from '../database/database.ts';
import { installationOf } from '../engine/instance.ts';
import type { Installation } from '../process/service-process.ts';
import { kubectl, type TestCluster } from './cluster.ts';

/** Settings of a Berth on this machine whose containers are in the cluster; all that it left there goes with `t`. */
export async function anInstallationIn(
  t: Test,
  cluster: TestCluster,
  more: NodeJS.ProcessEnv = {},
): Promise<{ readonly installation: Installation; readonly url: string } | null> {
  const url = await freshDatabase(t);
  if (url === null) return null;
  const instance = await installationOf('', url);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-e2e-'));
  t.teardown(async () => {
    rmSync(dataDir, { recursive: true, force: true });
    const all = ['pods,secrets,persistentvolumeclaims', '-l', `berth.instance=${instance}`];
    await kubectl(cluster, ['-n', cluster.namespace, 'delete', ...all, '--wait=false']);
  });
  const env = {
    BERTH_ENGINE: 'kubernetes',
    KUBECONFIG: cluster.kubeconfig,
    BERTH_KUBERNETES_NAMESPACE: cluster.namespace,
    BERTH_DATA_DIR: dataDir,
    BERTH_PORT: '0',
    DATABASE_URL: url,
    ...more,
  };
  return { installation: { dataDir, env }, url };
}
