import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type Docker from 'dockerode';
import type { Canary, Reached } from '../../../ports/containers/isolation-canary.ts';
import { answersItself, dial } from '../../scripts/isolation/dial.ts';
import { CANARY_LISTEN, CANARY_PORT, ENGINE_SOCKETS } from '../../scripts/isolation/isolation-scripts.ts';
import { type EngineCalls, engineCalls, LIMITS } from '../engine/engine-client.ts';
import { CANARY_LABEL } from '../engine/engine-names.ts';
import { dockerPrograms } from '../exec/container-programs.ts';
import { ownAddresses } from '../network/host-network.ts';
import { inspect } from './create-container.ts';
import { createOptions, type RuntimeSettings } from './create-options.ts';
import { removeNow, removeStale } from './stale-containers.ts';

/** A leftover container ends after this time, and the engine removes it. */
const LIFE_SECONDS = 60;
/** An older one was left by a killed process; a younger one may be another replica's. */
const RESOURCES = { memoryMb: 64, cpuMillicores: 500, diskMb: 512 };
const METADATA = '169.254.169.254';
const HELLO_MS = 3_000;

export type CanarySettings = RuntimeSettings & {
  readonly image: string;
  /** Whether the engine is on this machine, so that a test service can listen here. */
  readonly isLocal: boolean;
  /** What else no container may reach; default nothing. */
  readonly around?: readonly Reached[];
};

/** Tries to reach a neighbour, a service of this machine, the engine and the metadata address. */
export function dockerCanary(docker: Docker, settings: CanarySettings): Canary {
  const calls = engineCalls(docker);
  const alive = new Set<string>();
  let ended = false;
  const started = async (entrypoint: readonly string[]): Promise<string> => {
    if (ended) throw new Error('the test container was stopped');
    const options = { ...optionsOf(settings), Entrypoint: [...entrypoint] };
    const { id } = await calls.change(LIMITS.create, (abortSignal) =>
      docker.createContainer({ ...options, abortSignal }),
    );
    alive.add(id);
    await calls.change(LIMITS.start, (abortSignal) => docker.getContainer(id).start({ abortSignal }));
    return id;
  };
  const clear = async (): Promise<void> => {
    await Promise.all([...alive].map((id) => removeNow(calls, id)));
    alive.clear();
  };
  return {
    async prove() {
      await removeStale(calls, CANARY_LABEL, settings.instanceId, LIFE_SECONDS);
      const host = settings.isLocal ? await openService() : null;
      try {
        const neighbour = await started(['timeout', `${LIFE_SECONDS}`, 'perl', '-e', CANARY_LISTEN]);
        const canary = await started(['sleep', `${LIFE_SECONDS}`]);
        return await runProbe(calls, settings, { neighbour, canary, host });
      } finally {
        host?.close();
        await clear();
      }
    },
    async stop() {
      ended = true;
      await clear();
    },
  };
}

type ProbeRun = { readonly neighbour: string; readonly canary: string; readonly host: Server | null };

async function runProbe(
  calls: EngineCalls,
  settings: CanarySettings,
  { neighbour, canary, host }: ProbeRun,
): Promise<readonly Reached[]> {
  const info = await inspect(calls, neighbour);
  const there = `${info?.NetworkSettings.Networks[settings.network]?.IPAddress}:${CANARY_PORT}`;
  const programs = dockerPrograms(calls);
  await answersItself(programs, neighbour, there);
  const services = host === null ? [] : await servicesOf(host);
  const kinds = new Map<string, Reached['what']>([
    [there, 'neighbour'],
    ...services.map((at) => [at, 'host'] as const),
    [`${METADATA}:80`, 'metadata'],
    ...(settings.around ?? []).map(({ at, what }) => [at, what] as const),
  ]);
  const reached = await dial(programs, canary, [...kinds.keys()], ENGINE_SOCKETS);
  return reached.map((at) => ({ what: kinds.get(at) ?? 'engine', at }));
}

function optionsOf(settings: CanarySettings): Docker.ContainerCreateOptions {
  const id = randomUUID();
  const options = createOptions(
    {
      dbId: id,
      ownerId: null,
      generation: 1,
      operationId: null,
      image: settings.image,
      volume: '',
      hostname: 'canary',
      resources: RESOURCES,
      env: {},
    },
    settings,
  );
  return {
    ...options,
    name: `berth-canary-${id}`,
    // Without the installation's label, so the reconciler ignores it.
    Labels: { [CANARY_LABEL]: settings.instanceId },
    HostConfig: { ...options.HostConfig, Mounts: [], AutoRemove: true },
  };
}

/** A service on every address of this machine, during the check. */
async function openService(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end('berth\n'));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return server;
}

/** The addresses where it answers this machine: others would prove nothing. */
async function servicesOf(server: Server): Promise<readonly string[]> {
  const { port } = server.address() as AddressInfo;
  const own = (await ownAddresses()).filter((address) => !address.startsWith('127.'));
  const answers = await Promise.all(own.map((address) => answersHere(address, port)));
  const open = own.filter((_, n) => answers[n]);
  if (open.length === 0) throw new Error('this machine does not respond on any of its own addresses');
  return open.map((address) => `${address}:${port}`);
}

const answersHere = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: HELLO_MS });
    socket.once('data', () => resolve(true));
    socket.once('timeout', () => socket.destroy());
    socket.once('error', () => {});
    socket.once('close', () => resolve(false));
  });
