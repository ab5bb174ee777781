/** The whole service as in production, in its own process, on a given engine and database. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { addressOf, probe } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { startEmbedded } from '../../../src/adapters/postgres/embedded/index.ts';
import { installationOf, removeInstance } from '../../support/engine/instance.ts';
import { startEngine } from '../../support/run/keeper/engine.ts';
import { administrator, type Client } from './load.ts';
import { endedUsedMs, treeUsedMs } from './processor-time.ts';
import { type Server, startServer } from './servers.ts';

const SERVER = path.resolve(import.meta.dirname, '../../../src/app/main/bin/server.ts');
const MEMORY = path.join(import.meta.dirname, 'tell-memory.ts');
const READY = /(http:\/\/[^\s/]+)(?:\/setup#code=(\S+))?$/;

type Memory = {
  /** The runtime's memory for the program after a collection: heap, and buffers outside it. */
  readonly heldBytes: number;
  /** The process's resident memory. */
  readonly residentBytes: number;
};

export type WholeService = {
  readonly address: string;
  /** Empty once there is an administrator. */
  readonly setupCode: string;
  readonly pid: number;
  /** Collects garbage first. */
  readonly memory: () => Promise<Memory>;
  readonly stop: () => Promise<void>;
};

export async function startWholeService(env: NodeJS.ProcessEnv): Promise<WholeService> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'berth-bench-'));
  const settings = { BERTH_PORT: '0', BERTH_DATA_DIR: dataDir, BERTH_ENGINE: 'external', ...env };
  const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? [];
  const child = spawn(process.execPath, ['--expose-gc', '--import', MEMORY, ...flags, SERVER], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout as Readable })) {
    const ready = READY.exec(line);
    if (ready === null) continue;
    child.stdout?.resume();
    return {
      address: ready[1] ?? '',
      setupCode: ready[2] ?? '',
      pid: child.pid ?? 0,
      async memory() {
        const answer = once(child, 'message');
        child.send('memory');
        const [memory] = (await answer) as [Memory];
        return memory;
      },
      stop: async () => {
        child.kill('SIGTERM');
        await ended;
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  }
  throw new Error('the service did not start');
}

type EmptyDatabase = {
  readonly url: string;
  /** Processor time so far of its server. */
  readonly usedMs: () => number;
  readonly stop: () => Promise<void>;
};

/** An empty database with the settings of production, removed by `stop`. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const root = await mkdtemp(path.join(tmpdir(), 'berth-bench-'));
  const server = await startEmbedded(root);
  return {
    url: server.url(),
    usedMs: () => treeUsedMs(server.pid) + endedUsedMs(server.pid),
    stop: async () => {
      await server.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

type OnService = { readonly service: Server; readonly admin: Client; readonly databaseUrl: string };

/** Work with the service on an empty database, without an engine, and with its first administrator. */
export async function onService<T>(work: (on: OnService) => Promise<T>): Promise<T> {
  const database = await emptyDatabase();
  try {
    const service = await startServer('service-server.ts', [database.url]);
    try {
      const admin = await administrator(service.address, service.setupCode);
      return await work({ service, admin, databaseUrl: database.url });
    } finally {
      await service.stop();
    }
  } finally {
    await database.stop();
  }
}

/** A new API token of the administrator, and the headers of a request with it. */
export async function benchToken(admin: Client) {
  const made = await admin.call<{ id: string; token: string }>('POST', '/api/tokens', { name: 'bench' });
  return { ...made, headers: { authorization: `Bearer ${made.token}` } };
}

// A private engine, an empty database, and the whole service on both; all removed at the end.

/** `settings`: the service's, besides its engine and database. */
export async function installation(settings: NodeJS.ProcessEnv) {
  const engine = await startEngine('', console.log);
  const { endpoint, image } = engine.value;
  const answer = await probe(addressOf(endpoint, null));
  if (!answer.answers) throw new Error('the engine does not answer');
  const { docker } = answer;
  const database = await emptyDatabase();
  const service = await startWholeService({ DOCKER_HOST: endpoint, DATABASE_URL: database.url, ...settings });
  const instance = await installationOf('', database.url);
  return {
    docker,
    endpoint,
    image,
    service,
    instance,
    databaseUrl: database.url,
    async stop(): Promise<void> {
      await service.stop();
      await removeInstance({ docker, isLocal: endpoint.startsWith('unix:') }, instance);
      await database.stop();
      await engine.stop();
    },
  };
}
