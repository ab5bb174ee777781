import type { Test } from 'tap';
import { anInstallationElsewhere } from '../process/running-service.ts';
import { kubectl, type TestCluster } from './cluster.ts';

/** Settings of a Berth on this machine whose containers are in the cluster; all that it left there goes with `t`. */
export function anInstallationIn(t: Test, cluster: TestCluster, more: NodeJS.ProcessEnv = {}) {
  const settings = {
    BERTH_ENGINE: 'kubernetes',
    KUBECONFIG: cluster.kubeconfig,
    BERTH_KUBERNETES_NAMESPACE: cluster.namespace,
  };
  return anInstallationElsewhere(t, { ...settings, ...more }, (instance) => {
    const all = ['pods,secrets,persistentvolumeclaims', '-l', `berth.instance=${instance}`];
    return kubectl(cluster, ['-n', cluster.namespace, 'delete', ...all, '--wait=false']);
  });
}
