import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { sql } from 'kysely';
import { lockDataDir } from '../../adapters/filesystem/data-dir-lock.ts';
import { recordingFilesIn } from '../../adapters/filesystem/recording-files.ts';
import { openDatabase, openPool } from '../../adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../adapters/postgres/storage.ts';
import { prometheusMetrics } from '../../adapters/prometheus/prometheus-metrics.ts';
import { openIdProvider } from '../../adapters/security/openid/openid-provider.ts';
import { argon2Hasher } from '../../adapters/security/password-hasher.ts';
import { unlessAborted } from '../../concurrency/timeout.ts';
import { DEFAULT_IMAGE_KEY } from '../../domain/containers/catalogue.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Storage } from '../../ports/storage.ts';
import { compose } from './compose.ts';
import type { Ports } from './compose-options.ts';
import type { Config } from './config.ts';
import { embeddedUrl } from './database/embedded-database.ts';
import { migrateAt } from './database/migrate-database.ts';
import { openBus } from './database/open-bus.ts';
import { NODE } from './engine/attach-engine.ts';
import { type EngineInUse, type EngineSetUp, useEngine } from './engine/container-engine.ts';
import { findEngine } from './engine/find-engine.ts';
import { useCluster } from './engine/use-cluster.ts';
import { useSwarm } from './engine/use-swarm.ts';
import { livenessOf, watchLoop } from './health/liveness.ts';
import { readinessOf } from './health/readiness.ts';
import { type Keys, loadKeys, rotate } from './keys/keys.ts';
import { loadReplica } from './keys/replica-id.ts';
import { inBackground } from './process/background-work.ts';
import { step } from './process/console-progress.ts';
import { closeService, drain } from './process/drain.ts';
import { reconcileLoop } from './process/reconcile-loop.ts';
import type { Stops } from './process/shutdown-stack.ts';
import { sparingLog } from './process/sparing-log.ts';
import type { Service } from './service.ts';
import { settingsOf } from './service-settings.ts';

/** Within the thirty seconds of a shutdown. */
const DRAIN_WITHIN_MS = 16_000;
const CLOSE_WITHIN_MS = 3_000;
/** For Berth's own engine and database: a process that does not end is left to the next start. */
const SERVERS_WITHIN_MS = 30_000;

export type Production = {
  readonly service: Service;
  /** Makes a new key for login tokens, or takes over a changed file. */
  readonly rotateKeys: () => Promise<void>;
  /** How to get a missing engine back; null when there is one. */
  readonly mend: () => string | null;
};

export type ProductionOptions = {
  readonly config: Config;
  readonly log: FastifyBaseLogger;
  readonly version: string;
  /** The installation's folder, with migrations and the built browser app. */
  readonly root: string;
  readonly allowedOrigins: ReadonlySet<string>;
  /** Receives everything opened, at once. */
  readonly opened: Stops;
  /** Ends the start, and retries. */
  readonly signal: AbortSignal;
  /** For fault tests, which end the process here. */
  readonly checkpoint?: (name: string) => Promise<void>;
};

/**
 * Opens the database and the engine, and composes the service. When it throws, nothing is still being opened, and
 * `opened` has the rest.
 */
export async function production(options: ProductionOptions): Promise<Production> {
  const { config, opened } = options;
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 });
  const lock = lockDataDir(config.dataDir);
  opened.add('data folder', async () => lock.release());
  // It marks the folder as one of Berth, so that a start which fails from here on can be uninstalled.
  await loadReplica(config.dataDir);
  const keys = await loadKeys(config.dataDir, config.jwtSecret);
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  const storage = openStorage({ ...options, keys, signal });
  const opening = [storage, openEngine({ ...options, signal }, storage)] as const;
  for (const each of opening) each.catch(() => failed.abort());
  await Promise.allSettled(opening);
  const [database, engine] = await Promise.all(opening);
  signal.throwIfAborted();
  return await onto({ ...options, keys }, database, engine);
}

async function onto(
  { opened, signal, keys, ...options }: Keyed,
  database: OpenStorage,
  use: UseEngine,
): Promise<Production> {
  const { config, log } = options;
  const { storage, answers } = database;
  const images = await storage.repositories.catalogue.images();
  const reconciling = reconcileLoop(log);
  const loop = watchLoop();
  opened.add('event loop monitor', async () => loop.stop());
  database.metrics.watch('reconcile_age_seconds', () => reconciling.silenceMs() / 1000);
  const engine = await use({
    config,
    log,
    signal,
    instanceId: await storage.repositories.installation.id(),
    baseImage: images.find(({ key }) => key === DEFAULT_IMAGE_KEY)?.reference ?? null,
    onHint: reconciling.soon,
    installation: storage.repositories.installation,
    isPausing: storage.repositories.operations.isPausing,
    metrics: database.metrics,
  });
  signal.throwIfAborted();
  const service = await compose(await portsOf(database, engine, config, log), {
    logger: log,
    keys,
    version: options.version,
    replica: await loadReplica(config.dataDir),
    ...settingsOf(config, options),
    health: {
      liveness: () => livenessOf({ lagMs: loop.lagMs(), silenceMs: reconciling.silenceMs() }),
      readiness: () => readinessOf(engine.parts, { database: answers, engine: engine.runtime.ping }),
    },
  });
  await takeOver(service);
  opened.add('service', () => closeService(service), CLOSE_WITHIN_MS);
  const passes = [reconciling.start(service), ...inBackground(service, log)];
  // In parallel: each may be in long work, which its next owner repeats.
  opened.add('background work', async () => void (await Promise.all(passes.map((stop) => stop()))));
  opened.add('requests', () => drain(service), DRAIN_WITHIN_MS);
  const rotateKeys = async (): Promise<void> => {
    // otherwise secrets that only the retired key opens would be lost
    if (!(await reseal(service, log))) return;
    await rotate(keys, log);
    await reseal(service, log);
  };
  void reseal(service, log);
  return { service, rotateKeys, mend: () => engine.parts.engine.mend ?? null };
}

/** What processes before this one left. */
async function takeOver({ operations, recordings, terminals, agents }: Service): Promise<void> {
  await operations.takeOver();
  await recordings.takeOver();
  await terminals.begin();
  await agents.begin();
}

async function portsOf(
  { storage, bus, metrics }: OpenStorage,
  { terminals: terminalBackend, parts: _, ...engine }: EngineInUse,
  { dataDir, oidc }: Config,
  log: FastifyBaseLogger,
): Promise<Ports> {
  return {
    ...engine,
    storage,
    metrics,
    runtimeNode: NODE,
    terminalBackend,
    hasher: await argon2Hasher(),
    openIdProvider: oidc && openIdProvider(oidc, log),
    clock: { now: () => new Date() },
    bus,
    recordingFiles: recordingFilesIn(path.join(dataDir, 'recordings')),
  };
}

/** Connects the ports to the engine that was opened. */
type UseEngine = (setUp: EngineSetUp) => Promise<EngineInUse>;

/** Until the engine is used, it alone is stopped. An engine is looked for once the database has said that it may be. */
async function openEngine(
  { config, log, opened, signal }: ProductionOptions,
  database: Promise<OpenStorage>,
): Promise<UseEngine> {
  let stop = async (): Promise<void> => {};
  const stopWith = (other: typeof stop): void => {
    stop = other;
  };
  if (config.engine === 'kubernetes') {
    opened.add('container engine', () => stop());
    return (setUp) => useCluster(stopWith, setUp);
  }
  if (config.engine === 'swarm') {
    opened.add('container engine', () => stop());
    return (setUp) => useSwarm(stopWith, setUp);
  }
  const searchLog = sparingLog(log);
  const { installation } = (await database).storage.repositories;
  const engine = await findEngine(config, { log: searchLog, signal, installation });
  stopWith(engine.stop);
  opened.add('container engine', () => stop(), SERVERS_WITHIN_MS);
  return (setUp) => useEngine({ engine, searchLog, stopWith }, setUp);
}

type Keyed = ProductionOptions & { readonly keys: Keys };

type OpenStorage = {
  readonly storage: Storage;
  readonly bus: Bus;
  readonly metrics: Metrics;
  readonly answers: () => Promise<void>;
};

/** DATABASE_URL, else the embedded server; migrated either way. */
async function openStorage({ config, log, root, opened, signal, keys }: Keyed): Promise<OpenStorage> {
  const url = config.databaseUrl ?? (await embeddedUrl(config, log, opened, signal));
  signal.throwIfAborted();
  const pool = openPool({ url, onIdleError: (err) => log.warn({ err }, 'a database connection was lost') });
  const db = openDatabase(pool);
  opened.add('database connections', () => db.destroy());
  await step('Migrating the database', () =>
    unlessAborted(signal, migrateAt(url, path.join(root, 'db/migrations'))),
  );
  const storage = postgresStorage(db);
  const installationId = await storage.repositories.installation.id();
  const messageKeys = () => keys.live().map(({ messages }) => messages);
  const bus = openBus(config, { url, installationId, keys: messageKeys }, log, opened);
  const answers = async (): Promise<void> => void (await sql`select 1`.execute(db));
  return { storage, bus, answers, metrics: metricsWith(pool, bus) };
}

/** With the figures of pool and bus on request. */
function metricsWith(pool: ReturnType<typeof openPool>, bus: Bus): Metrics {
  const metrics = prometheusMetrics();
  metrics.watch('database_connections', () => pool.totalCount);
  metrics.watch('database_connections_in_use', () => pool.totalCount - pool.idleCount);
  metrics.watch('database_waiting', () => pool.waitingCount);
  metrics.watch('messages_connected', () => (bus.connected ? 1 : 0));
  return metrics;
}

/** Re-encrypts the database's secrets at the start and after a rotation. False on failure. */
async function reseal(service: Service, log: FastifyBaseLogger): Promise<boolean> {
  try {
    const lost = await service.reseal();
    if (lost > 0) log.warn(`${lost} second factors were encrypted with a key that no longer exists`);
    return true;
  } catch (err) {
    log.warn({ err }, 'could not encrypt second factors with the current key');
    return false;
  }
}
