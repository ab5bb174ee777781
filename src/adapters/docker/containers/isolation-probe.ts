import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import type Docker from 'dockerode';
import { type EngineCalls, engineCalls, LIMITS } from '../engine/engine-client.ts';
import { CANARY_LABEL } from '../engine/engine-names.ts';
import { printedBy } from '../exec/exec.ts';
import { ownAddresses } from '../network/host-network.ts';
import { inspect } from './create-container.ts';
import { createOptions, type RuntimeSettings } from './create-options.ts';
import { CANARY_DIAL, CANARY_LISTEN, CANARY_PORT } from './isolation-probe-scripts.ts';
import { removeNow, removeStale } from './stale-containers.ts';

/** A container that nobody removes ends by itself after so long, and the engine removes it then. */
const LIFE_SECONDS = 60;
/** An older one was left by a killed process; a younger one may be another replica's. */
const RESOURCES = { memoryMb: 64, cpuMillicores: 500, diskMb: 512 };
const METADATA = '169.254.169.254';
const HELLO_MS = 3_000;
/** On a busy machine a container with half a processor is slow. */
const DIAL_SECONDS = 30;
const DIAL_BYTES = 65_536;
/** Each takes three seconds. */
const SELF_TRIES = 8;

export type CanarySettings = RuntimeSettings & {
  readonly image: string;
  /** The engine is on this machine, so that a service of the machine can be opened here. */
  readonly isLocal: boolean;
};

/** Something that a container must not reach, and did. */
export type Reached = { readonly what: 'neighbour' | 'host' | 'engine' | 'metadata'; readonly at: string };

export type Canary = {
  /**
   * Starts two containers like any other and tries to get from one to the other, to a service of this machine, to the
   * engine and to the metadata address. Answers what was reached. Throws when it could not be tried.
   */
  prove(): Promise<readonly Reached[]>;
  /** Ends what is going on, and leaves no container. */
  stop(): Promise<void>;
};

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
  // What proves nothing must not pass: the neighbour has to be there for somebody, by the same means.
  await answersItself(calls, neighbour, there);
  const services = host === null ? [] : await servicesOf(host);
  const kinds = new Map<string, Reached['what']>([
    [there, 'neighbour'],
    ...services.map((at) => [at, 'host'] as const),
    [`${METADATA}:80`, 'metadata'],
  ]);
  const reached = await dial(calls, canary, [...kinds.keys()]);
  return reached.map((at) => ({ what: kinds.get(at) ?? 'engine', at }));
}

/** Perl may need a while to listen, on a busy machine several seconds. */
async function answersItself(calls: EngineCalls, neighbour: string, there: string): Promise<void> {
  for (let n = 0; n < SELF_TRIES; n += 1) {
    if ((await dial(calls, neighbour, [there])).includes(there)) return;
  }
  throw new Error('the neighbour does not respond to itself');
}

/** Which of the addresses, and which sockets of an engine, a container gets to. */
async function dial(calls: EngineCalls, id: string, targets: readonly string[]): Promise<readonly string[]> {
  const lines = (await printedBy(calls, id, CANARY_DIAL, targets, DIAL_BYTES, DIAL_SECONDS))
    .toString()
    .trim()
    .split('\n');
  if (lines.pop() !== 'tried all') throw new Error('the test container did not try everything');
  return lines;
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
    // Without the installation's label: it is nobody's workspace, and the reconciler knows nothing of it.
    Labels: { [CANARY_LABEL]: settings.instanceId },
    HostConfig: { ...options.HostConfig, Mounts: [], AutoRemove: true },
  };
}

/** A service on every address of this machine, for as long as the canary flies. */
async function openService(): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end('berth\n'));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  return server;
}

/** Where it answers this machine itself: elsewhere nothing would be proved. */
async function servicesOf(server: Server): Promise<readonly string[]> {
  const { port } = server.address() as AddressInfo;
  const own = (await ownAddresses()).filter((address) => !address.startsWith('127.'));
  const answers = await Promise.all(own.map((address) => answersHere(address, port)));
  const open = own.filter((_, n) => answers[n]);
  if (open.length === 0) throw new Error('this machine does not respond on any of its own addresses');
  return open.map((address) => `${address}:${port}`);
}

function answersHere(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: HELLO_MS });
    socket.once('data', () => resolve(true));
    socket.once('timeout', () => socket.destroy());
    socket.once('error', () => {});
    socket.once('close', () => resolve(false));
  });
}
