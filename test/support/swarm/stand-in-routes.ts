import type { Service, ServiceSpec } from '../../../src/adapters/swarm/client/objects.ts';
import type { Body, Labelled, SwarmState } from './stand-in-state.ts';

export type Answer = { readonly status: number; readonly body?: unknown };
type Request = { readonly name: string; readonly body: Body; readonly query: URLSearchParams };
/** Method, path, and what is answered; the path's group is the `name`. */
export type Route = readonly [string, RegExp, (request: Request) => Answer];

const found = (value: unknown): Answer =>
  value === undefined || value === false
    ? { status: 404, body: { message: 'not found' } }
    : { status: 200, body: value };

const filtersOf = (query: URLSearchParams): Readonly<Record<string, readonly string[]>> =>
  JSON.parse(query.get('filters') ?? '{}') as Record<string, string[]>;

const hasLabels = ({ Labels = {} }: Labelled, query: URLSearchParams): boolean =>
  (filtersOf(query)['label'] ?? []).every((label) => {
    const [name = '', value] = label.split('=');
    return value === undefined ? name in Labels : Labels[name] === value;
  });

/** Things that are made, read and removed by name. */
function named(
  things: Map<string, Body>,
  path: string,
  show: (body: Body) => unknown,
  showAll: (shown: readonly unknown[]) => unknown = (shown) => shown,
  isRefused: () => boolean = () => false,
): readonly Route[] {
  const one = new RegExp(`^/${path}/([^/]+)$`);
  return [
    [
      'POST',
      new RegExp(`^/${path}/create$`),
      ({ body }) => {
        const name = String(body['Name']);
        if (isRefused()) return { status: 500, body: { message: 'nothing new is made' } };
        if (things.has(name)) return { status: 409, body: { message: `name ${name} conflicts` } };
        things.set(name, body);
        return { status: 201, body: { ID: name, Name: name } };
      },
    ],
    [
      'GET',
      one,
      ({ name }) => {
        const thing = things.get(name);
        return found(thing && show(thing));
      },
    ],
    [
      'GET',
      new RegExp(`^/${path}$`),
      ({ query }) =>
        isRefused()
          ? { status: 500, body: { message: 'nothing is listed' } }
          : found(showAll([...things.values()].filter((each) => hasLabels(each, query)).map(show))),
    ],
    ['DELETE', one, ({ name }) => (things.delete(name) ? { status: 204 } : found(undefined))],
  ];
}

const TOO_LONG =
  'rpc error: code = ResourceExhausted desc = grpc: received message larger than max (16789012 vs. 16777216)';

const serviceRoutes = ({ services, tasks, behaviour, scaled }: SwarmState): readonly Route[] => [
  [
    'POST',
    /^\/services\/create$/,
    ({ body }) => {
      const Spec = body as unknown as ServiceSpec;
      if (services.has(Spec.Name)) return { status: 409, body: { message: 'name conflicts' } };
      services.set(Spec.Name, { ID: Spec.Name, Version: { Index: 1 }, Spec });
      return { status: 201, body: { ID: Spec.Name } };
    },
  ],
  [
    'POST',
    /^\/services\/([^/]+)\/update$/,
    ({ name, body, query }) => {
      const before = services.get(name);
      if (before === undefined) return found(undefined);
      if (name === behaviour.stuckService) return { status: 500, body: { message: 'no' } };
      const isCurrent = query.get('version') === String(before.Version.Index);
      if (behaviour.overtaken > 0 || !isCurrent) {
        behaviour.overtaken -= 1;
        return { status: 500, body: { message: 'rpc error: code = Unknown desc = update out of sequence' } };
      }
      const Version = { Index: before.Version.Index + 1 };
      const after = { ...before, Version, Spec: body as unknown as ServiceSpec };
      services.set(name, after);
      scaled(after, before);
      return { status: 200, body: {} };
    },
  ],
  ['GET', /^\/services\/([^/]+)$/, ({ name }) => found(services.get(name))],
  ['DELETE', /^\/services\/([^/]+)$/, ({ name }) => found(services.delete(name))],
  [
    'GET',
    /^\/services$/,
    ({ query }) => {
      const [beginning = ''] = filtersOf(query)['name'] ?? [];
      const listed = [...services.values()].filter(
        ({ Spec }) => hasLabels(Spec, query) && Spec.Name.startsWith(beginning),
      );
      if (listed.length > behaviour.longestList) return { status: 500, body: { message: TOO_LONG } };
      return found(
        listed.map((service) => ({ ...service, ServiceStatus: { RunningTasks: runningOf(service, tasks) } })),
      );
    },
  ],
  [
    'GET',
    /^\/tasks$/,
    ({ query }) => found(tasks.filter(({ of }) => filtersOf(query)['service']?.includes(of))),
  ],
];

const runningOf = ({ Spec }: Service, tasks: SwarmState['tasks']): number =>
  tasks.filter(({ of, Status }) => of === Spec.Name && Status.State === 'running').length;

const containerRoutes = ({ containers, end, behaviour }: SwarmState): readonly Route[] => [
  [
    'GET',
    /^\/containers\/json$/,
    ({ query }) =>
      found(
        containers.filter(
          (each) => hasLabels(each, query) && (query.get('all') === 'true' || each.State === 'running'),
        ),
      ),
  ],
  [
    'GET',
    /^\/containers\/([^/]+)\/json$/,
    ({ name }) => {
      const one = containers.find(({ Id }) => Id === name);
      const HostConfig = { SecurityOpt: behaviour.securityOptions };
      return found(one && { Id: name, HostConfig, Config: { Labels: one.Labels } });
    },
  ],
  [
    'POST',
    /^\/containers\/([^/]+)\/update$/,
    ({ name, body }) => {
      for (const one of containers) if (one.Id === name) one.Memory = Number(body['Memory']);
      return found({});
    },
  ],
  [
    'POST',
    /^\/containers\/([^/]+)\/stop$/,
    ({ name }) => {
      end(name);
      return { status: 204 };
    },
  ],
  [
    'DELETE',
    /^\/containers\/([^/]+)$/,
    ({ name }) => {
      end(name, 'failed', 137);
      const at = containers.findIndex(({ Id }) => Id === name);
      if (at < 0) return found(undefined);
      containers.splice(at, 1);
      return { status: 204 };
    },
  ],
];

/** Containers that Berth itself makes, and programs in them that print nothing. */
const ownContainerRoutes = ({ containers, newId, behaviour }: SwarmState): readonly Route[] => [
  [
    'POST',
    /^\/containers\/create$/,
    ({ body, query }) => {
      const [Id, Name] = [newId(), query.get('name') ?? newId()];
      if (containers.some((each) => each.Name === Name))
        return { status: 409, body: { message: 'conflict' } };
      containers.push({ Id, Name, Labels: body.Labels ?? {}, State: 'created', Memory: 0 });
      return { status: 201, body: { Id } };
    },
  ],
  ['POST', /^\/containers\/([^/]+)\/start$/, () => ({ status: 204 })],
  ['POST', /^\/containers\/([^/]+)\/exec$/, () => ({ status: 201, body: { Id: newId() } })],
  [
    'GET',
    /^\/exec\/([^/]+)\/json$/,
    ({ name }) =>
      found({
        ID: name,
        Running: behaviour.hangs,
        ExitCode: behaviour.hangs ? null : behaviour.exitCode,
        Pid: 1,
      }),
  ],
];

const nodeRoutes = ({
  behaviour,
  nodeId,
  otherNodes,
  images,
  removedImages,
}: SwarmState): readonly Route[] => [
  ['GET', /^\/_ping$/, () => ({ status: 200, body: 'OK' })],
  [
    'GET',
    /^\/version$/,
    () => found({ ApiVersion: '1.44', Version: '25.0.0', Arch: behaviour.architecture }),
  ],
  [
    'GET',
    /^\/swarm$/,
    () =>
      behaviour.hasLeader
        ? found({
            ID: behaviour.swarmId,
            Spec: { Dispatcher: { HeartbeatPeriod: behaviour.heartbeatSeconds * 1_000_000_000 } },
          })
        : { status: 503, body: { message: 'rpc error: The swarm does not have a leader' } },
  ],
  [
    'GET',
    /^\/info$/,
    () =>
      found({
        ID: `engine-${nodeId}`,
        Swarm: {
          NodeID: nodeId,
          ControlAvailable: behaviour.isManager,
        },
      }),
  ],
  [
    'GET',
    /^\/nodes$/,
    () =>
      found([
        {
          ID: nodeId,
          Version: { Index: behaviour.joins },
          Spec: { Availability: behaviour.availability },
          Status: { State: behaviour.nodeState, Addr: '10.0.0.1' },
          Description: {
            Hostname: 'one',
            Platform: { Architecture: behaviour.architecture === 'amd64' ? 'x86_64' : 'aarch64' },
            Resources: { NanoCPUs: 4e9, MemoryBytes: 8e9 },
          },
        },
        ...otherNodes,
      ]),
  ],
  ['GET', /^\/images\/json$/, () => found([])],
  [
    'GET',
    /^\/images\/(.+)\/json$/,
    // All names are of the newest.
    ({ name }) => {
      const isAbsent =
        name === behaviour.missingImage || (name.startsWith('sha256:') && !images.includes(name));
      const Architecture = behaviour.imageArchitecture ?? behaviour.architecture;
      const { imageLabels: Labels } = behaviour;
      const Config = Labels === null ? undefined : { Labels };
      return found(isAbsent ? undefined : { Id: images.at(-1), Architecture, Config });
    },
  ],
  [
    'DELETE',
    /^\/images\/(.+)$/,
    ({ name }) => {
      removedImages.push(name);
      return found([]);
    },
  ],
];

/** Docker's API as far as Berth uses it: words, codes and lives of tasks are those of Docker 20.10.24, and containers those of 25. */
export const routesOf = (state: SwarmState): readonly Route[] => [
  ...nodeRoutes(state),
  ...serviceRoutes(state),
  ...containerRoutes(state),
  ...ownContainerRoutes(state),
  ...named(state.configs, 'configs', (Spec) => ({ ID: Spec['Name'], Spec })),
  ...named(
    state.volumes,
    'volumes',
    (volume) => volume,
    (Volumes) => ({ Volumes }),
  ),
  ...named(
    state.networks,
    'networks',
    (network) => network,
    (shown) => shown,
    () => state.behaviour.refusesNetworks,
  ),
];
