/** What the bench's programs agree on: an installation whose containers are Pods of a cluster. */
import { type ApiClient, apiClient } from '../../../../src/adapters/kubernetes/client/api-client.ts';
import { clusterAccess } from '../../../../src/adapters/kubernetes/client/cluster-access.ts';
import type { ClusterSettings } from '../../../../src/adapters/kubernetes/containers/container-runtime.ts';

export const NODE = 'stand-in';

/** Of a process of the service, as `process.argv` carries them. */
export type PodsArguments = {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly instanceId: string;
};

export const settingsOf = (instanceId: string): ClusterSettings => ({
  instanceId,
  // As the rows of the database name it.
  node: 'local',
  storageClass: null,
  // There is nothing to measure.
  disk: { quota: 'soft', measure: async () => 0 },
});

export const clientOf = async (kubeconfig: string, namespace: string): Promise<ApiClient> =>
  apiClient(await clusterAccess({ kubeconfig, context: null, namespace }));
