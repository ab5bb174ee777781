import type { Service, ServiceSpec, SwarmNode, Task } from '../../../src/adapters/swarm/client/objects.ts';

export const NODE = 'n1n1n1n1n1n1n1n1n1n1n1n1n';

export type Labelled = { readonly Labels?: Readonly<Record<string, string>> };
export type Body = Record<string, unknown> & Labelled;

/** How the swarm and its node behave; tests change it. */
export type Behaviour = {
  /** The state that a new task gets. */
  taskState: string;
  taskError: string | undefined;
  nodeState: string;
  /** The node's version: its engine has joined so often. */
  joins: number;
  /** Whether programs that an exec starts never end. */
  hangs: boolean;
  /** The image that no container can be made from. */
  missingImage: string | null;
  isManager: boolean;
  /** Whether it makes no new networks, and lists none. */
  refusesNetworks: boolean;
  /** Of the swarm itself. */
  swarmId: string;
  /** Whether a majority of the managers is reached. */
  hasLeader: boolean;
  heartbeatSeconds: number;
  /** Of each container. */
  securityOptions: readonly string[] | null;
  availability: 'active' | 'pause' | 'drain';
  /** Of the node, in the words of images; its images have this one, too, unless told otherwise. */
  architecture: string;
  imageArchitecture: string | null;
  /** Of its images; null for images without a configuration. */
  imageLabels: Readonly<Record<string, string>> | null;
  /** The most services that fit an answer. */
  longestList: number;
  /** The service that the swarm does not change. */
  stuckService: string | null;
  /** Of programs that an exec starts. */
  exitCode: number;
  /** Whether it removes the tasks of a service that was scaled to zero. */
  removesTasks: boolean;
  /** How many updates are overtaken by others from now on. */
  overtaken: number;
};

type StandInContainer = {
  readonly Id: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Name?: string;
  State: string;
  Memory: number;
};

type StandInTask = Task & { readonly of: string };
type TaskTemplate = ServiceSpec['TaskTemplate'] & {
  readonly ContainerSpec: Labelled;
  readonly Resources: { readonly Limits: { readonly MemoryBytes: number } };
};

export type SwarmState = ReturnType<typeof swarmState>;

/** What a swarm of one node has, and the life of its tasks. */
export function swarmState(nodeId: string) {
  const tasks: StandInTask[] = [];
  const containers: StandInContainer[] = [];
  const behaviour: Behaviour = {
    taskState: 'running',
    taskError: undefined,
    nodeState: 'ready',
    joins: 1,
    hangs: false,
    missingImage: null,
    isManager: true,
    refusesNetworks: false,
    swarmId: `swarm-${nodeId}`,
    hasLeader: true,
    heartbeatSeconds: 60,
    securityOptions: ['no-new-privileges=true'],
    availability: 'active',
    architecture: 'amd64',
    imageArchitecture: null,
    imageLabels: null,
    longestList: Number.POSITIVE_INFINITY,
    stuckService: null,
    exitCode: 0,
    removesTasks: true,
    overtaken: 0,
  };
  let count = 0;
  const newId = (): string => {
    count += 1;
    return count.toString(16).padStart(64, '0');
  };

  function makeTask({ Spec }: Service): void {
    const { ContainerSpec, Resources, ForceUpdate = 0 } = Spec.TaskTemplate as TaskTemplate;
    const Id = newId();
    const { Labels = {} } = ContainerSpec;
    if (behaviour.taskState === 'running')
      containers.push({ Id, Labels, State: 'running', Memory: Resources.Limits.MemoryBytes });
    const Timestamp = new Date().toISOString();
    const Err = behaviour.taskError === undefined ? {} : { Err: behaviour.taskError };
    tasks.push({
      of: Spec.Name,
      ID: newId(),
      CreatedAt: Timestamp,
      NodeID: nodeId,
      DesiredState: 'running',
      Spec: { ForceUpdate },
      Status: { State: behaviour.taskState, Timestamp, ...Err, ContainerStatus: { ContainerID: Id } },
    });
  }

  /** The container of a task has ended. */
  function end(id: string | undefined, State = 'complete', ExitCode = 143): void {
    const at = tasks.findIndex(({ Status }) => Status.ContainerStatus?.ContainerID === id);
    const task = tasks[at];
    if (task === undefined || ['complete', 'failed', 'shutdown'].includes(task.Status.State)) return;
    const ContainerStatus = { ...task.Status.ContainerStatus, ExitCode };
    tasks[at] = { ...task, Status: { ...task.Status, State, ContainerStatus } };
    for (const container of containers) if (container.Id === id) container.State = 'exited';
  }

  return {
    nodeId,
    /** As the manager lists them, besides its own. */
    otherNodes: [] as SwarmNode[],
    /** The path of each request, with its filters. */
    requests: [] as string[],
    /** What was written to each program that an exec started. */
    execs: [] as string[],
    newId,
    behaviour,
    tasks,
    containers,
    services: new Map<string, Service>(),
    configs: new Map<string, Body>(),
    volumes: new Map<string, Body>(),
    networks: new Map<string, Body>(),
    /** The ids of the node's images. */
    images: [`sha256:${'1'.repeat(64)}`],
    removedImages: [] as string[],
    end,
    /** What the swarm does after an update. */
    scaled(service: Service, before: Service): void {
      const isUp = ({ Spec }: Service): boolean => Spec.Mode.Replicated.Replicas > 0;
      const startOf = ({ Spec }: Service): number => Spec.TaskTemplate.ForceUpdate ?? 0;
      if (isUp(service) && (!isUp(before) || startOf(service) > startOf(before))) makeTask(service);
      if (isUp(service)) return;
      for (const { of, Status } of [...tasks])
        if (of === service.Spec.Name) end(Status.ContainerStatus?.ContainerID, 'shutdown');
      const kept = tasks.flatMap((task) => {
        if (task.of !== service.Spec.Name) return [task];
        return behaviour.removesTasks ? [] : [{ ...task, DesiredState: 'remove' }];
      });
      tasks.splice(0, tasks.length, ...kept);
    },
  };
}
