import type Docker from 'dockerode';
import { RuntimeFailure, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import { engineCalls, LIMITS, orNull, statusOf } from '../../docker/engine/engine-client.ts';
import type { Labels, Service, ServiceSpec, SwarmConfig, SwarmNode, Task } from './objects.ts';

/** How often an update is tried that others overtake. */
const UPDATE_TRIES = 20;
/** Of a config, whose labels are what Berth needs. */
const CONFIG_DATA = Buffer.from('berth').toString('base64');
const NS_PER_SECOND = 1_000_000_000;

export type Manager = ReturnType<typeof swarmManager>;

/** Labels that objects must have; null: with any value. */
type WantedLabels = Readonly<Record<string, string | null>>;

const filterOf = (labels: WantedLabels): readonly string[] =>
  Object.entries(labels).map(([name, value]) => (value === null ? name : `${name}=${value}`));

/** The client's types omit the signal, and the version of an update. */
type Loose = Readonly<Record<string, (options: object) => Promise<unknown>>>;

/** The manager's swarm is not the one that has an installation's containers and volumes. */
export class OtherSwarm extends RuntimeUnavailable {
  override name = 'OtherSwarm';
}

/**
 * Returns an answer. Throws `OtherSwarm` for an empty one of a manager that has joined another swarm: what it lacks may be
 * in the swarm that it left.
 */
type Confirm = <T>(answer: T) => Promise<T>;

/**
 * Client for a swarm, through one manager. Calls for objects of the swarm need a quorum. `ownIds`: ids of the swarms that
 * this installation has used; null accepts any.
 */
export function swarmManager(docker: Docker, ownIds: readonly string[] | null = null) {
  const ask = callsOf(docker);
  const settings = (): Promise<SwarmSettings> => ask.read(LIMITS.inspect, docker, 'swarmInspect');

  /** Returns the id of the swarm itself. Throws `OtherSwarm` unless it is one of `ownIds`. */
  async function requireOwn(): Promise<string> {
    const { ID } = await settings();
    if (ownIds === null || ownIds.includes(ID)) return ID;
    throw new OtherSwarm(
      `the manager is now in the Swarm ${ID}, but the containers are in ${ownIds.join(' or ')}`,
    );
  }

  const confirm: Confirm = async (answer) => {
    const isEmpty = answer === null || (Array.isArray(answer) && answer.length === 0);
    if (isEmpty && ownIds !== null) await requireOwn();
    return answer;
  };

  return {
    calls: ask.calls,
    /** Whether it is an engine of this machine, by its socket. */
    isLocal: Boolean((docker.modem as { readonly socketPath?: string }).socketPath),
    ...serviceCalls(docker, ask, confirm),
    ...configCalls(docker, ask, confirm),

    /**
     * Lists the nodes. Throws `OtherSwarm` if the manager has joined another swarm: Berth must not search that swarm's
     * nodes or set firewall rules on them.
     */
    async nodes(): Promise<readonly SwarmNode[]> {
      const nodes = await ask.read<readonly SwarmNode[]>(LIMITS.inspect, docker, 'listNodes');
      if (ownIds !== null) await requireOwn();
      return nodes;
    },

    /** How often nodes must report, in seconds; a swarm calls a node lost after three times that. */
    async heartbeatSeconds(): Promise<number> {
      const swarm = await settings();
      return (swarm.Spec?.Dispatcher?.HeartbeatPeriod ?? 0) / NS_PER_SECOND;
    },

    /** The id of the node that this manager is. Throws when the engine is no manager. */
    async ownNodeId(): Promise<string> {
      const { Swarm } = await ask.read<{ Swarm?: SwarmInfo }>(LIMITS.inspect, docker, 'info');
      if (Swarm?.ControlAvailable === true && Swarm.NodeID) return Swarm.NodeID;
      throw new RuntimeUnavailable('the engine is not a manager of a swarm');
    },
    requireOwn,
  };
}

type Ask = ReturnType<typeof callsOf>;

/** Calls of the client's methods, with the limits and errors of all calls to engines. */
function callsOf(docker: Docker) {
  const calls = engineCalls(docker);
  const call = async <T>(thing: object, method: string, options: object): Promise<T> =>
    (await (thing as Loose)[method]?.(options)) as T;
  return {
    calls,
    read: async <T>(seconds: number, thing: object, method: string, options: object = {}): Promise<T> =>
      await asked(calls.read(seconds, (abortSignal) => call<T>(thing, method, { ...options, abortSignal }))),
    change: async <T>(thing: object, method: string, options: object = {}): Promise<T> =>
      await asked(
        calls.change(LIMITS.start, (abortSignal) => call<T>(thing, method, { ...options, abortSignal })),
      ),
  };
}

function serviceCalls(docker: Docker, { read, change }: Ask, confirm: Confirm) {
  /** null when there is none. By name or id. */
  const service = async (name: string): Promise<Service | null> =>
    await confirm(await orNull([404], read<Service>(LIMITS.inspect, docker.getService(name), 'inspect')));

  /** False when the service is no longer as it was read. */
  async function tryUpdate({ ID, Version }: Service, spec: ServiceSpec): Promise<boolean> {
    const update = { _query: { version: Version.Index }, _body: spec };
    try {
      await change(docker.getService(ID), 'update', update);
      return true;
    } catch (error) {
      if (statusOf(error) === 404 || isOvertaken(error)) return false;
      throw error;
    }
  }

  return {
    service,
    tryUpdate,

    /** Those with all of the labels, and a name that begins so, with how many of their tasks run. */
    services: async (labels: WantedLabels, nameBegins?: string): Promise<readonly Service[]> => {
      const name = nameBegins === undefined ? {} : { name: [nameBegins] };
      const filters = { label: filterOf(labels), ...name };
      return await confirm(await read(LIMITS.list, docker, 'listServices', { filters, status: true }));
    },

    /** False when one of this name exists. */
    async createService(spec: ServiceSpec): Promise<boolean> {
      return (await orNull([409], change<object>(docker, 'createService', spec))) !== null;
    },

    /**
     * Changes the specification that the service has now, as often as others change it meanwhile. `changed` returns null
     * when there is nothing to do. False when the service is gone.
     */
    async updateService(name: string, changed: (spec: ServiceSpec) => ServiceSpec | null): Promise<boolean> {
      for (let tries = 0; tries < UPDATE_TRIES; tries += 1) {
        const present = await service(name);
        if (present === null) return false;
        const spec = changed(present.Spec);
        if (spec === null || (await tryUpdate(present, spec))) return true;
      }
      throw new RuntimeFailure(`the service ${name} is changed by others all the time`);
    },

    /** Absent is success. */
    removeService: async (name: string): Promise<void> =>
      void (await confirm(await orNull([404], change(docker.getService(name), 'remove')))),

    /** All tasks of a service that the swarm remembers. */
    tasks: async (name: string): Promise<readonly Task[]> =>
      await confirm(await read(LIMITS.list, docker, 'listTasks', { filters: { service: [name] } })),
  };
}

const configCalls = (docker: Docker, { read, change }: Ask, confirm: Confirm) => ({
  /** null when there is none. */
  config: async (name: string): Promise<SwarmConfig | null> =>
    await confirm(await orNull([404], read<SwarmConfig>(LIMITS.inspect, docker.getConfig(name), 'inspect'))),

  configs: async (labels: WantedLabels): Promise<readonly SwarmConfig[]> =>
    await confirm(await read(LIMITS.list, docker, 'listConfigs', { filters: { label: filterOf(labels) } })),

  /** False when one of this name exists. */
  async createConfig(name: string, labels: Labels): Promise<boolean> {
    const config = { Name: name, Labels: labels, Data: CONFIG_DATA };
    return (await orNull([409], change<object>(docker, 'createConfig', config))) !== null;
  },

  /** Absent is success. */
  removeConfig: async (name: string): Promise<void> =>
    void (await confirm(await orNull([404], change(docker.getConfig(name), 'remove')))),
});

type SwarmSettings = {
  readonly ID: string;
  readonly Spec?: { readonly Dispatcher?: { readonly HeartbeatPeriod?: number } };
};
type SwarmInfo = {
  readonly NodeID?: string;
  readonly ControlAvailable?: boolean;
};

/** The index of the update is not the current one: the words are the API's only sign. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof RuntimeFailure && /update out of sequence/i.test(error.message);

const WITHOUT_MANAGERS =
  /no leader|lost quorum|does not have a leader|context deadline exceeded|not a swarm manager/i;

/** Without a majority of managers nothing is known: the manager answers so with an error of its own. */
async function asked<T>(call: Promise<T>): Promise<T> {
  return await call.catch((error: unknown) => {
    const isSilent =
      statusOf(error) === 503 || (error instanceof RuntimeFailure && WITHOUT_MANAGERS.test(error.message));
    if (!isSilent) throw error;
    throw new RuntimeUnavailable(`the swarm has no leader now: ${String(error)}`, { cause: error });
  });
}
