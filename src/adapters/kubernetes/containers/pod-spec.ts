import type { Resources } from '../../../domain/containers/resources.ts';
import { INIT_SCRIPT } from '../../scripts/exec/process-scripts.ts';
import { CONFINED, CONFINED_POD, pullPolicyOf, USER } from './confinement.ts';
import { hostnameOf, podNameOf, recordNameOf, WORKSPACE_LABEL } from './names.ts';
import { podAccounts } from './pod-accounts.ts';
import { MAIN } from './pod-states.ts';
import { podTools } from './pod-tools.ts';
import { type ContainerRecord, envKey, labelsOf } from './records.ts';

export type PodSettings = {
  readonly instanceId: string;
  /** Has tmux for the terminals of other images; without it those are plain shells. */
  readonly toolsImage?: string | null;
};

/** What the scheduler reserves of the limits: Pods share the rest. */
const RESERVED = { memory: 0.5, cpu: 0.1 } as const;
/** The kubelet ends a Pod that writes more outside its volumes, before it fills the disk of others. */
const LAYER_MB = 8192;
const SHM_MB = 64;
const RUN_MB = 64;

/**
 * A claim is for one node, so a Pod must not be made elsewhere while its node is only unreachable: it stays until the
 * node is back or an administrator removes it.
 */
const STAYS = ['not-ready', 'unreachable'].map((state) => ({
  key: `node.kubernetes.io/${state}`,
  operator: 'Exists',
  effect: 'NoExecute',
}));

/** The Pod of a container: Pod Security `restricted`, no credentials of the cluster, never restarted or moved. */
export function podOf(record: ContainerRecord, settings: PodSettings) {
  const { image, resources } = record.spec;
  const { toolsImage = null } = settings;
  const given = { resources: allLimitsOf(resources), securityContext: CONFINED };
  const tools = podTools(image, toolsImage, { ...given, imagePullPolicy: pullPolicyOf(toolsImage ?? '') });
  const accounts = podAccounts(USER, { ...given, image, imagePullPolicy: pullPolicyOf(image) });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podNameOf(record.spec.dbId),
      labels: { ...labelsOf(record.spec, settings.instanceId), [WORKSPACE_LABEL]: 'true' },
      annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' },
    },
    spec: {
      hostname: hostnameOf(record.spec.hostname),
      restartPolicy: 'Never',
      ...CONFINED_POD,
      // The sandbox's process reaps orphans; images have no init of their own.
      shareProcessNamespace: true,
      tolerations: STAYS,
      initContainers: [...tools.initContainers, ...accounts.initContainers],
      containers: [mainContainer(record, [...tools.mounts, ...accounts.mounts])],
      volumes: [
        { name: 'workspace', persistentVolumeClaim: { claimName: record.spec.volume } },
        { name: 'run', emptyDir: { sizeLimit: `${RUN_MB}Mi` } },
        { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: `${SHM_MB}Mi` } },
        ...tools.volumes,
        ...accounts.volumes,
      ],
    },
  };
}

const mainContainer = ({ runtimeId, spec, env }: ContainerRecord, more: readonly object[]) => ({
  name: MAIN,
  image: spec.image,
  imagePullPolicy: pullPolicyOf(spec.image),
  command: ['sh', '-c', INIT_SCRIPT, 'berth'],
  workingDir: '/workspace',
  env: [
    ...(env.includes('LANG') ? [] : [{ name: 'LANG', value: 'C.UTF-8' }]),
    ...env.filter((name) => name !== 'HOME').map((name) => fromRecord(runtimeId, name)),
    { name: 'HOME', value: '/workspace' },
  ],
  resources: allLimitsOf(spec.resources),
  securityContext: CONFINED,
  volumeMounts: [
    { name: 'workspace', mountPath: '/workspace' },
    { name: 'run', mountPath: '/run' },
    { name: 'shm', mountPath: '/dev/shm' },
    ...more,
  ],
});

/** From the secret: a Pod's text is for everybody who may list Pods, and `$(…)` in it would be replaced. */
const fromRecord = (runtimeId: string, name: string) => ({
  name,
  valueFrom: { secretKeyRef: { name: recordNameOf(runtimeId), key: envKey(name) } },
});

/** Limits, and what the scheduler reserves. Requests stay below the limits, or a running Pod could not change them. */
export const limitsOf = ({ memoryMb, cpuMillicores }: Resources) => ({
  limits: { memory: `${memoryMb}Mi`, cpu: `${cpuMillicores}m` },
  requests: {
    memory: `${Math.floor(memoryMb * RESERVED.memory)}Mi`,
    cpu: `${Math.max(1, Math.floor(cpuMillicores * RESERVED.cpu))}m`,
  },
});

function allLimitsOf(resources: Resources) {
  const { limits, requests } = limitsOf(resources);
  return {
    limits: { ...limits, 'ephemeral-storage': `${LAYER_MB}Mi` },
    requests: { ...requests, 'ephemeral-storage': '0' },
  };
}
