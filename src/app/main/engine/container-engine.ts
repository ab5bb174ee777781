import { dockerAccess } from '../../../adapters/docker/container-access.ts';
import { dockerRuntime } from '../../../adapters/docker/containers/container-runtime.ts';
import { type Canary, dockerCanary } from '../../../adapters/docker/containers/isolation-probe.ts';
import { runtimeSettings } from '../../../adapters/docker/containers/runtime-settings.ts';
import { pinCores } from '../../../adapters/docker/cores/core-spreader.ts';
import { engineCalls } from '../../../adapters/docker/engine/engine-client.ts';
import { dockerHost } from '../../../adapters/docker/host/engine-host.ts';
import { killFromHost } from '../../../adapters/docker/host/host-kill.ts';
import { dockerWarmPoolEngine } from '../../../adapters/docker/images/container-images.ts';
import { dockerKernelShares } from '../../../adapters/docker/kernel/kernel-shares.ts';
import { ensureNetwork } from '../../../adapters/docker/network/instance-network.ts';
import {
  type Engine,
  openEngine,
  type RunningEngine,
} from '../../../adapters/docker/private-engine/open-engine.ts';
import { dockerTerminals } from '../../../adapters/docker/terminals/terminal-backend.ts';
import { chooseDiskQuota } from '../../../adapters/docker/volumes/choose-quota.ts';
import type { DiskSettings } from '../../../adapters/docker/volumes/container-volumes.ts';
import { hostSpace } from '../../../adapters/docker/volumes/volume-usage.ts';
import { repeat } from '../../../concurrency/repeat.ts';
import { engineDataWords } from '../../../domain/containers/disk-quota.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Config } from '../config.ts';
import type { PartState, Parts } from '../health/readiness.ts';
import { say } from '../process/console-progress.ts';
import { prepareBaseImage } from './base-image.ts';
import { type EngineParts, engineSlot } from './engine-ports.ts';
import { NOT_LOOKED, watchIsolation } from './isolation-check.ts';

/** The engine's name in handles. */
export const NODE = 'local';
const SEARCH_AGAIN_MS = 5_000;
/** Starting a private engine may install packages, so retries get rarer. */
const START_AGAIN_MS = { first: 30_000, most: 600_000 };
const SPACE_EVERY_MS = 30_000;
const RULES_EVERY_MS = 30_000;
const REVIVE_EVERY_MS = 3_000;
const SPREAD_EVERY_MS = 10_000;

export type EngineSetUp = {
  readonly config: Config;
  readonly log: Logger;
  /** Ends preparations and retries. */
  readonly signal: AbortSignal;
  /** Receives, before anything starts, the function that stops the engine and all its work. */
  readonly stopWith: (stop: () => Promise<void>) => void;
  /** UUID in the labels of everything Berth makes. */
  readonly instanceId: string;
  /** Null when the catalogue has none. */
  readonly baseImage: string | null;
  /** Called when an engine becomes usable, and when something in it may have changed. */
  readonly onHint: () => void;
  /** Whether any process pauses the container with this runtime id. */
  readonly isPausing: (runtimeId: string) => Promise<boolean>;
  readonly metrics: Pick<Metrics, 'watch' | 'engineWaited'>;
};

export type EngineInUse = EngineParts & { readonly parts: Parts };

export type { Engine };

/** Finds or starts an engine; throws only by the signal. Mode `external` starts none. */
export const findEngine = (
  { dataDir, dockerHost, engine, enginePoolMb: poolMb, diskFloorMb: floorMb, lxcfs }: Config,
  { log, signal, mode = engine }: Pick<EngineSetUp, 'log' | 'signal'> & { readonly mode?: Config['engine'] },
): Promise<Engine> =>
  openEngine({ dataDir, mode, dockerHost, poolMb, floorMb, lxcfs, progress: say, log, signal });

/**
 * Connects the ports to the engine. Without one they refuse, and the search repeats every few seconds. Throws when the
 * signal comes first; the function given to `stopWith` stops what was started.
 */
export async function useEngine(found: Engine, setUp: EngineSetUp): Promise<EngineInUse> {
  const { log, signal } = setUp;
  const slot = engineSlot();
  const parts: Parts = {
    engine: WAITING,
    image: WAITING,
    disk: WAITING,
    isolation: NOT_LOOKED,
    resources: NOT_KNOWN,
  };
  const isolation = watchIsolation({ parts, log, assertRules: () => slot.assertRules() });
  let engine = found;
  let timer: NodeJS.Timeout | undefined;
  let searching: Promise<void> = Promise.resolve();
  let preparing: Promise<void> = Promise.resolve();
  let unwatch = (): void => {};
  // A flush of the packet filter removes our rules; the next pass restores them.
  const stopRules = repeat(RULES_EVERY_MS, () => isolation.lookAtRules(), log);
  const stopDescribing = repeat(SPACE_EVERY_MS, () => slot.describe(), log);
  const stopSpreading = repeat(SPREAD_EVERY_MS, () => slot.spread(), log);
  const stopReviving = repeat(REVIVE_EVERY_MS, () => revive(engine, slot), log);
  setUp.stopWith(async () => {
    clearTimeout(timer);
    unwatch();
    await stopReviving();
    await stopSpreading();
    await stopDescribing();
    await stopRules();
    await isolation.stop();
    await Promise.all([searching, preparing]);
    await engine.stop();
    await slot.close();
  });

  const bringUp = async (): Promise<void> => {
    try {
      preparing = (await attach(engine, setUp, slot, parts, isolation.begin)).background;
    } catch (error) {
      signal.throwIfAborted();
      log.error({ err: error }, 'engine is not usable');
      const detail = 'the engine is not usable';
      parts.engine = { status: 'degraded', detail, reason: 'unusable', mend: 'see the log' };
    }
    if (parts.engine.status === 'ready') unwatch = slot.runtime.watch(setUp.onHint);
    else timer = setTimeout(searchAgain, SEARCH_AGAIN_MS);
  };
  const modeNow = searchModes(setUp.config);
  const searchAgain = (): void => {
    if (signal.aborted) return;
    const search = async (): Promise<void> => {
      const mode = modeNow();
      const other = engine.kind === 'none' ? await findEngine(setUp.config, { log, signal, mode }) : engine;
      // A search for external engines says nothing about the private one, so its status stays.
      if (other.kind !== 'none' || mode === 'auto') engine = other;
      await bringUp();
    };
    searching = search().catch((err: unknown) => {
      if (signal.aborted) return;
      log.warn({ err }, 'could not search for a container engine');
      timer = setTimeout(searchAgain, SEARCH_AGAIN_MS);
    });
  };
  await bringUp();
  return { ...slot, parts };
}

/** The mode of a new search: whether a private engine may be started. */
function searchModes({ engine }: Config): () => Config['engine'] {
  let waitMs = START_AGAIN_MS.first;
  let dueAtMs = performance.now() + waitMs;
  return () => {
    if (engine === 'external' || performance.now() < dueAtMs) return 'external';
    waitMs = Math.min(2 * waitMs, START_AGAIN_MS.most);
    dueAtMs = performance.now() + waitMs;
    return 'auto';
  };
}

/** Restarts a killed private engine, whose containers kept running, and the supervisor of its lxcfs. */
async function revive(engine: Engine, slot: ReturnType<typeof engineSlot>): Promise<void> {
  if (engine.kind !== 'private') return;
  await engine.view.supervise();
  const answers = await slot.runtime.ping().then(
    () => true,
    () => false,
  );
  if (!answers) await engine.revive();
}

/** An external engine's containers are not watched. */
const NOT_SEEN = { read: async () => null };

/** For administrators: the engine, and missing fixes for known escapes. */
const detailOf = (kind: string, version: string, warning: string | null): string =>
  `${kind}, ${version}${warning === null ? '' : `; ${warning}`}`;

const WAITING = { status: 'down', detail: 'is being prepared', reason: 'starting' } as const;

const NOT_KNOWN = { status: 'ready', detail: 'waiting for the engine' } as const;

async function attach(
  engine: Engine,
  setUp: EngineSetUp,
  slot: ReturnType<typeof engineSlot>,
  parts: Parts,
  prove: (canary: Canary) => void,
): Promise<{ readonly background: Promise<void> }> {
  const { log, instanceId, baseImage, signal, metrics } = setUp;
  const done = { background: Promise.resolve() };
  if (engine.kind === 'none') {
    const detail = 'no container engine';
    parts.engine = { status: 'degraded', detail, reason: 'missing', mend: engine.mend };
    parts.image = { status: 'degraded', detail: 'waiting for the engine', reason: 'waiting' };
    parts.disk = parts.image;
    parts.resources = NOT_KNOWN;
    return done;
  }
  const { docker, warning } = engine;
  const { slots, work, heedPauses } = engineCalls(docker);
  heedPauses(setUp.isPausing);
  for (const turns of [slots, work]) turns.listen(metrics.engineWaited);
  metrics.watch('engine_waiting', slots.waiting);
  metrics.watch('engine_work_waiting', work.waiting);
  if (warning !== null) say(`Warning: ${warning}`);
  const [network, disk] = await Promise.all([
    ensureNetwork(engine, { instanceId, log }),
    keepSizes(engine, setUp, slot, parts),
  ]);
  signal.throwIfAborted();
  slot.keep(network.assertRules);
  const chosen = { instanceId, node: NODE, network: network.name };
  const pinned =
    engine.kind === 'private' && setUp.config.pinsCores ? await pinCores(docker, instanceId) : null;
  slot.spreadWith(pinned?.spread ?? (async () => {}));
  const usual = await runtimeSettings(docker, chosen);
  const settings = { ...usual, view: engine.view.mounts, cores: pinned?.choose };
  const kill = engine.kind === 'private' ? killFromHost : null;
  let tools: string | null = null;
  slot.fill({
    runtime: dockerRuntime(docker, { ...settings, disk, kill, tools: () => tools }),
    terminals: dockerTerminals(docker),
    ...dockerAccess(docker, instanceId),
    warmPool: dockerWarmPoolEngine(docker),
    kernelShares:
      engine.kind === 'private'
        ? dockerKernelShares({ instanceId, openFiles: settings.processLimits.nofile })
        : NOT_SEEN,
    host: dockerHost(docker, { instanceId, isLocal: engine.isLocal }),
  });
  parts.engine = { status: 'ready', detail: detailOf(engine.kind, engine.version, warning) };
  if (baseImage === null) {
    parts.image = { status: 'degraded', detail: 'the catalogue has no default image', reason: 'absent' };
    return done;
  }
  return await prepareBaseImage({
    ...{ docker, instanceId, parts, log, signal },
    reference: baseImage,
    mayInstall: setUp.config.engine === 'auto',
    network: network.name,
    onImage: () => prove(dockerCanary(docker, { ...settings, image: baseImage, isLocal: engine.isLocal })),
    onTools: (volume) => {
      tools = volume;
    },
  });
}

/** Information only: containers work as well without. */
const viewPart = (fault: string | null): PartState => ({
  status: 'ready',
  detail:
    fault === null
      ? "programs in containers see their container's memory and cores"
      : `programs in containers see the memory and cores of the machine: ${fault}`,
});

/** Chooses how volume sizes are enforced, reports it, and arranges for the final unmounting. */
async function keepSizes(
  engine: RunningEngine,
  { config, log, instanceId, signal }: EngineSetUp,
  slot: ReturnType<typeof engineSlot>,
  parts: Parts,
): Promise<DiskSettings> {
  const { disk, choice } = await chooseDiskQuota(engine, {
    setting: config.diskQuota,
    instanceId,
    dataDir: config.dataDir,
    mayInstall: config.engine === 'auto',
    progress: say,
    log,
    signal,
  });
  const data = async (): Promise<string> => {
    const spaces = await hostSpace(disk.folders);
    return engineDataWords(spaces.find(({ isPool }) => isPool) ?? null, engine.poolFault);
  };
  const mode = choice.mode;
  const detail = `${choice.detail}; ${await data()}`;
  if (mode === 'none' || (mode === 'measured' && config.diskQuota !== 'soft'))
    log.warn(`disk quota: ${detail}`);
  const mend = 'see docs/disk.md, or set BERTH_DISK_QUOTA=auto';
  parts.disk =
    mode === 'none'
      ? { status: 'degraded', detail, reason: 'unenforced', mend }
      : { status: 'ready', detail };
  const describe = async (): Promise<void> => {
    parts.disk = { ...parts.disk, detail: `${choice.detail}; ${await data()}` };
    parts.resources = viewPart(await engine.view.fault());
  };
  slot.describeWith(describe);
  await describe();
  if (disk.images !== null) slot.closeWith(disk.images.close);
  return disk;
}
