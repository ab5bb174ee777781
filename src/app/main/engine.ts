import { dockerAccess } from '../../adapters/docker/access.ts';
import { ensureBaseImage } from '../../adapters/docker/base-image.ts';
import { type Canary, dockerCanary } from '../../adapters/docker/canary.ts';
import { dockerRuntime } from '../../adapters/docker/container-runtime.ts';
import { type Engine, openEngine, type RunningEngine } from '../../adapters/docker/engine.ts';
import { ensureNetwork } from '../../adapters/docker/network.ts';
import { chooseDiskQuota } from '../../adapters/docker/quota-choice.ts';
import { runtimeSettings } from '../../adapters/docker/runtime-settings.ts';
import { dockerTerminals } from '../../adapters/docker/terminal-backend.ts';
import { ensureTools } from '../../adapters/docker/tools-volume.ts';
import type { DiskSettings } from '../../adapters/docker/volumes.ts';
import { dockerWarmPoolEngine } from '../../adapters/docker/warm-pool-engine.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Config } from './config.ts';
import { type EngineParts, engineSlot } from './engine-slot.ts';
import { every } from './every.ts';
import { NOT_LOOKED, watchIsolation } from './isolation.ts';
import { say } from './progress.ts';
import type { Parts } from './readiness.ts';

/** Name of the one engine in handles. */
export const NODE = 'local';
const LOOK_AGAIN_MS = 5_000;
const RULES_EVERY_MS = 30_000;
const REVIVE_EVERY_MS = 3_000;

export type EngineSetUp = {
  readonly config: Config;
  readonly log: Logger;
  /** UUID in the labels of all that is made. */
  readonly instanceId: string;
  /** Reference of the default image; null when the catalogue has none. */
  readonly baseImage: string | null;
  /** Called when an engine has become usable, and when something in it may have changed. */
  readonly onHint: () => void;
};

export type EngineInUse = EngineParts & {
  readonly parts: Parts;
  readonly stop: () => Promise<void>;
};

/** Finds or starts an engine. `mode` external starts none of its own. */
export const findEngine = (config: Config, log: Logger, mode = config.engine): Promise<Engine> =>
  openEngine({ dataDir: config.dataDir, mode, dockerHost: config.dockerHost, progress: say, log });

/** Makes the ports work on the engine; without one they refuse, and it is looked for again every few seconds. */
export async function useEngine(found: Engine, setUp: EngineSetUp): Promise<EngineInUse> {
  const slot = engineSlot();
  const parts: Parts = { engine: WAITING, image: WAITING, disk: WAITING, isolation: NOT_LOOKED };
  const isolation = watchIsolation({ parts, log: setUp.log, assertRules: () => slot.assertRules() });
  let engine = found;
  let timer: NodeJS.Timeout | undefined;
  let unwatch = (): void => {};
  // Whatever flushes the packet filter of this machine takes our rules along; they come back with the next turn.
  const stopRules = every(RULES_EVERY_MS, () => slot.assertRules(), setUp.log);

  const bringUp = async (): Promise<void> => {
    await attach(engine, setUp, slot, parts, isolation.begin).catch((error: unknown) => {
      setUp.log.error({ err: error }, 'engine is not usable');
      parts.engine = { status: 'degraded', detail: 'the engine is not usable', mend: 'see the log' };
    });
    if (parts.engine.status === 'ready') unwatch = slot.runtime.watch(setUp.onHint);
    else timer = setTimeout(() => void lookAgain(), LOOK_AGAIN_MS);
  };
  const lookAgain = async (): Promise<void> => {
    if (engine.kind === 'none') engine = await findEngine(setUp.config, setUp.log, 'external');
    await bringUp();
  };

  await bringUp();
  const stopReviving = every(REVIVE_EVERY_MS, () => revive(engine, slot), setUp.log);
  return {
    ...slot,
    parts,
    stop: async () => {
      clearTimeout(timer);
      unwatch();
      await stopReviving();
      await stopRules();
      await isolation.stop();
      await engine.stop();
      await slot.close();
    },
  };
}

/** An engine of our own that was killed comes back; its containers went on meanwhile. */
async function revive(engine: Engine, slot: ReturnType<typeof engineSlot>): Promise<void> {
  if (
    engine.kind !== 'private' ||
    (await slot.runtime.ping().then(
      () => true,
      () => false,
    ))
  )
    return;
  await engine.revive();
}

const WAITING = { status: 'down', detail: 'is being prepared' } as const;

async function attach(
  engine: Engine,
  setUp: EngineSetUp,
  slot: ReturnType<typeof engineSlot>,
  parts: Parts,
  prove: (canary: Canary) => void,
): Promise<void> {
  const { log, instanceId, baseImage } = setUp;
  if (engine.kind === 'none') {
    parts.engine = {
      status: 'degraded',
      detail: 'no container engine',
      mend: engine.mend,
    };
    parts.image = { status: 'degraded', detail: 'waits for the engine' };
    parts.disk = parts.image;
    return;
  }
  const { docker, warning } = engine;
  if (warning !== null) log.warn(warning);
  const [network, disk] = await Promise.all([
    ensureNetwork(engine, { instanceId, log }),
    keepSizes(engine, setUp, slot, parts),
  ]);
  slot.keep(network.assertRules);
  const settings = await runtimeSettings(docker, { instanceId, node: NODE, network: network.name });
  let tools: string | null = null;
  slot.fill({
    runtime: dockerRuntime(docker, { ...settings, disk, tools: () => tools }),
    terminals: dockerTerminals(docker),
    ...dockerAccess(docker, instanceId),
    warmPool: dockerWarmPoolEngine(docker),
  });
  parts.engine = { status: 'ready', detail: `${engine.kind}, ${engine.version}` };
  if (baseImage === null) {
    parts.image = { status: 'degraded', detail: 'the catalogue has no default image' };
    return;
  }
  if (!(await prepareImage(docker, baseImage, network.name, parts, log))) return;
  prove(dockerCanary(docker, { ...settings, image: baseImage, isLocal: engine.isLocal }));
  void ensureTools(docker, { instanceId, image: baseImage }).then(
    (volume) => {
      tools = volume;
    },
    (err: unknown) => log.warn({ err }, 'images without tmux get a plain shell'),
  );
}

/** Makes the base image ready and tells how that went. Whether it is there. */
async function prepareImage(
  docker: RunningEngine['docker'],
  reference: string,
  network: string,
  parts: Parts,
  log: Logger,
): Promise<boolean> {
  try {
    const { how } = await ensureBaseImage(docker, {
      reference,
      progress: say,
      log,
      allowPull: true,
      network,
    });
    parts.image = { status: 'ready', detail: how };
    return true;
  } catch (err) {
    log.error({ err }, 'base image is not ready');
    parts.image = { status: 'degraded', detail: 'the base image could not be prepared', mend: 'see the log' };
    return false;
  }
}

/** Finds out how volumes can be kept to their size, says so, and has their mounts taken away in the end. */
async function keepSizes(
  engine: RunningEngine,
  { config, log, instanceId }: EngineSetUp,
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
  });
  const { mode, detail } = choice;
  if (mode === 'none' || (mode === 'measured' && config.diskQuota !== 'soft'))
    log.warn(`disk quota: ${detail}`);
  const mend = 'see docs/disk.md, or set BERTH_DISK_QUOTA=auto';
  parts.disk = mode === 'none' ? { status: 'degraded', detail, mend } : { status: 'ready', detail };
  if (disk.images !== null) slot.closeWith(disk.images.close);
  return disk;
}
