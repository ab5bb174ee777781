/** One process of the service whose containers are Pods. Arguments: the database's address, then `PodsArguments` as JSON. */
import { clusterRuntime } from '../../../../src/adapters/kubernetes/containers/container-runtime.ts';
import { serveOn } from '../fleet/serve.ts';
import { clientOf, type PodsArguments, settingsOf } from './settings.ts';

const { kubeconfig, namespace, instanceId } = JSON.parse(process.argv[3] ?? '') as PodsArguments;
await serveOn(process.argv[2] ?? '', async () =>
  clusterRuntime(await clientOf(kubeconfig, namespace), settingsOf(instanceId)),
);
