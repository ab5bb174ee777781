import type { Resources } from '../../../domain/containers/resources.ts';
import type { ContainerSpec } from '../../../ports/containers/container-runtime.ts';
import {
  createOptions,
  MAX_PROCESSES,
  type RuntimeSettings,
  toolsMount,
} from '../../docker/containers/create-options.ts';
import {
  DB_ID_LABEL,
  GENERATION_LABEL,
  INSTANCE_LABEL,
  OPERATION_LABEL,
  OWNER_LABEL,
} from '../../docker/engine/engine-names.ts';
import { TOOLS_FOLDER } from '../../scripts/terminals/tmux/tmux-volume-scripts.ts';
import type { ServiceContainer, ServiceSpec } from '../client/objects.ts';
import { IMAGE_LABEL, MEMBER_LABEL, NODE_LABEL, RESOURCES_LABEL, VOLUME_LABEL } from './names.ts';

const MIB = 1024 * 1024;
const NS_PER_SECOND = 1_000_000_000;
/** A swarm ends tasks by itself, as when their node is drained: as long as a usual stop takes. */
const GRACE_SECONDS = 10;
const SHM_MB = 64;

/** Where a container is placed, and what its node knows. */
export type Placed = {
  readonly nodeId: string;
  /** `sha256:…`: a node pulls nothing for an image that is named by its id. */
  readonly imageId: string;
  readonly settings: RuntimeSettings;
};

/**
 * The service of a container: one task at most, on the node that has the volume, started by Berth alone. Confined as by
 * the Docker adapter.
 */
export function serviceSpecOf(spec: ContainerSpec, name: string, placed: Placed): ServiceSpec {
  const { nodeId, settings } = placed;
  return {
    Name: name,
    Labels: {
      [INSTANCE_LABEL]: settings.instanceId,
      [DB_ID_LABEL]: spec.dbId,
      [GENERATION_LABEL]: String(spec.generation),
      [VOLUME_LABEL]: spec.volume,
      [NODE_LABEL]: nodeId,
      [IMAGE_LABEL]: spec.image,
      [RESOURCES_LABEL]: JSON.stringify(spec.resources),
      ...(spec.ownerId === null ? {} : { [OWNER_LABEL]: spec.ownerId }),
      ...(spec.operationId === null ? {} : { [OPERATION_LABEL]: spec.operationId }),
      ...(spec.isMember === true && { [MEMBER_LABEL]: 'unclaimed' }),
    },
    Mode: { Replicated: { Replicas: 0 } },
    TaskTemplate: {
      ForceUpdate: 0,
      ContainerSpec: containerOf(spec, placed),
      Resources: { Limits: limitsOf(spec.resources, settings.hostCpuMillicores) },
      // What ended is stopped, and shown: only a start of Berth's makes another task.
      RestartPolicy: { Condition: 'none' },
      Placement: { Constraints: [`node.id==${nodeId}`] },
      Networks: [{ Target: settings.network }],
      LogDriver: { Name: 'json-file', Options: { 'max-size': '10m', 'max-file': '2' } },
    },
    UpdateConfig: { Parallelism: 1, Order: 'stop-first', FailureAction: 'continue' },
    EndpointSpec: { Mode: 'dnsrr' },
  };
}

function containerOf(
  spec: ContainerSpec,
  { imageId, settings }: Placed,
): ServiceContainer & Readonly<Record<string, unknown>> {
  const options = createOptions(spec, settings);
  const host = options.HostConfig ?? {};
  return {
    Image: imageId,
    Hostname: literal(options.Hostname ?? ''),
    Command: options.Entrypoint,
    Dir: options.WorkingDir,
    User: options.User,
    Env: options.Env?.map(literalValue),
    Labels: options.Labels,
    Init: true,
    StopSignal: options.StopSignal,
    StopGracePeriod: GRACE_SECONDS * NS_PER_SECOND,
    Healthcheck: options.Healthcheck,
    CapabilityDrop: host.CapDrop,
    CapabilityAdd: host.CapAdd,
    Ulimits: host.Ulimits,
    Sysctls: host.Sysctls,
    // Engines before 25 ignore it: each start checks the container.
    Privileges: { NoNewPrivileges: true },
    Mounts: [
      ...(host.Mounts ?? []),
      { Type: 'tmpfs', Target: '/dev/shm', TmpfsOptions: { SizeBytes: SHM_MB * MIB, Mode: 0o1777 } },
    ],
  };
}

/** A swarm evaluates `{{…}}` in values of the environment and in the host name: a quoted text is that text. */
const literal = (text: string): string =>
  text.includes('{{') ? `{{${JSON.stringify(text.toWellFormed())}}}` : text;

/** Only the value of a variable is replaced. */
function literalValue(variable: string): string {
  const at = variable.indexOf('=') + 1;
  return variable.slice(0, at) + literal(variable.slice(at));
}

const limitsOf = ({ memoryMb, cpuMillicores }: Resources, hostCpuMillicores: number) => ({
  NanoCPUs: Math.min(cpuMillicores, hostCpuMillicores) * 1_000_000,
  MemoryBytes: memoryMb * MIB,
  Pids: MAX_PROCESSES,
});

/** What the next task gets from its node. */
export type NodeOffer = Pick<Placed, 'imageId'> & {
  readonly cpuMillicores: number;
  /** null while the node cannot have one: then the task gets that of the last start. */
  readonly toolsVolume: string | null;
};

/** The specification by which one start makes a task: with what the container should have now. */
export function started(spec: ServiceSpec, resources: Resources, offer: NodeOffer): ServiceSpec {
  const { TaskTemplate } = spec;
  return {
    ...spec,
    Mode: { Replicated: { Replicas: 1 } },
    TaskTemplate: {
      ...TaskTemplate,
      ContainerSpec: { ...TaskTemplate.ContainerSpec, ...mounted(TaskTemplate.ContainerSpec, offer) },
      Resources: { Limits: limitsOf(resources, offer.cpuMillicores) },
      // Without it a swarm may never make the task when the last one has just ended.
      ForceUpdate: lastStartOf(spec) + 1,
    },
  };
}

const mounted = ({ Mounts }: ServiceContainer, { imageId, toolsVolume }: NodeOffer): ServiceContainer => ({
  Image: imageId,
  Mounts:
    toolsVolume === null
      ? Mounts
      : [...Mounts.filter(({ Target }) => Target !== TOOLS_FOLDER), ...toolsMount(toolsVolume)],
});

/** The number of the last start. */
export const lastStartOf = ({ TaskTemplate }: ServiceSpec): number => TaskTemplate.ForceUpdate ?? 0;

/** Whether it asks for a task. */
export const wantsTask = ({ Mode }: ServiceSpec): boolean => Mode.Replicated.Replicas > 0;

/** null when it asks for no task already. */
export const stopped = (spec: ServiceSpec): ServiceSpec | null =>
  wantsTask(spec) ? { ...spec, Mode: { Replicated: { Replicas: 0 } } } : null;
