import { dockerAccess, dockerTerminals } from '../../../adapters/docker/container-access.ts';
import { dockerRuntime } from '../../../adapters/docker/containers/container-runtime.ts';
import { dockerCanary } from '../../../adapters/docker/containers/isolation-probe.ts';
import { runtimeSettings } from '../../../adapters/docker/containers/runtime-settings.ts';
import { pinCores } from '../../../adapters/docker/cores/core-spreader.ts';
import { engineCalls } from '../../../adapters/docker/engine/engine-client.ts';
import { dockerHost } from '../../../adapters/docker/host/engine-host.ts';
import { killFromHost } from '../../../adapters/docker/host/host-kill.ts';
import { dockerWarmPoolEngine } from '../../../adapters/docker/images/container-images.ts';
import { dockerKernelShares } from '../../../adapters/docker/kernel/kernel-shares.ts';
import { ensureNetwork } from '../../../adapters/docker/network/instance-network.ts';
import type { Engine, RunningEngine } from '../../../adapters/docker/private-engine/open-engine.ts';
import type { Canary } from '../../../ports/containers/isolation-canary.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Config } from '../config.ts';
import { NO_DEFAULT_IMAGE, type Parts } from '../health/readiness.ts';
import { say } from '../process/console-progress.ts';
import { prepareBaseImage } from './base-image.ts';
import type { EngineSlot } from './engine-ports.ts';
import { keepSizes } from './volume-sizes.ts';

/** The engine's name in handles. */
export const NODE = 'local';

export type AttachOptions = {
  readonly config: Config;
  readonly log: Logger;
  /** Ends preparations and retries. */
  readonly signal: AbortSignal;
  /** UUID in the labels of everything Berth makes. */
  readonly instanceId: string;
  /** Null when the catalogue has none. */
  readonly baseImage: string | null;
  /** Whether any process pauses the container with this runtime id. */
  readonly isPausing: (runtimeId: string) => Promise<boolean>;
  readonly metrics: Pick<Metrics, 'watch' | 'engineWaited'>;
};

export const NOT_KNOWN = { status: 'ready', detail: 'waiting for the engine' } as const;

/** What needs an engine, while none can be used. */
export const WAITING = { status: 'degraded', detail: 'waiting for the engine', reason: 'waiting' } as const;

const DONE = { background: Promise.resolve() };

/**
 * Fills the slot with an engine's ports, and prepares network, disk and base image; `background` ends with the last
 * preparation. `prove` starts the isolation check.
 */
export async function attach(
  engine: Engine,
  options: AttachOptions,
  slot: EngineSlot,
  parts: Parts,
  prove: (canary: Canary) => void,
): Promise<{ readonly background: Promise<void> }> {
  if (engine.kind === 'none') {
    withoutEngine(parts, engine.mend);
    return DONE;
  }
  const { log, instanceId, baseImage, signal, config } = options;
  const { docker, warning, isLocal } = engine;
  listenToQueues(docker, options);
  if (warning !== null) say(`Warning: ${warning}`);
  const [network, disk] = await Promise.all([
    ensureNetwork(engine, { instanceId, log }),
    keepSizes(engine, options, slot, parts),
  ]);
  signal.throwIfAborted();
  slot.keep(network.assertRules);
  const isPrivate = engine.kind === 'private';
  const pinned = isPrivate && config.pinsCores ? await pinCores(docker, instanceId) : null;
  slot.spreadWith(pinned?.spread ?? (async () => {}));
  const usual = await runtimeSettings(docker, { instanceId, node: NODE, network: network.name });
  const settings = { ...usual, view: engine.view.mounts, cores: pinned?.choose };
  const kill = isPrivate ? killFromHost : null;
  let tools: string | null = null;
  slot.fill({
    runtime: dockerRuntime(docker, { ...settings, disk, kill, tools: () => tools }),
    terminals: dockerTerminals(docker),
    ...dockerAccess(docker, instanceId),
    warmPool: dockerWarmPoolEngine(docker),
    kernelShares: isPrivate
      ? dockerKernelShares({ instanceId, openFiles: settings.processLimits.nofile })
      : NOT_SEEN,
    host: dockerHost(docker, { instanceId, isLocal }),
  });
  parts.engine = { status: 'ready', detail: detailOf(engine) };
  if (baseImage === null) {
    parts.image = NO_DEFAULT_IMAGE;
    return DONE;
  }
  return await prepareBaseImage({
    source: {
      docker,
      instanceId,
      reference: baseImage,
      network: network.name,
      mayInstall: config.engine === 'auto',
    },
    parts,
    log,
    signal,
    onImage: () => prove(dockerCanary(docker, { ...settings, image: baseImage, isLocal })),
    onTools: (volume) => {
      tools = volume;
    },
  });
}

function withoutEngine(parts: Parts, mend: string): void {
  parts.engine = { status: 'degraded', detail: 'no container engine', reason: 'missing', mend };
  parts.image = WAITING;
  parts.disk = WAITING;
  parts.resources = NOT_KNOWN;
}

/** Measures the waits for the engine, and respects pauses by other processes. */
function listenToQueues(docker: RunningEngine['docker'], { isPausing, metrics }: AttachOptions): void {
  const { slots, work, heedPauses } = engineCalls(docker);
  heedPauses(isPausing);
  for (const turns of [slots, work]) turns.listen(metrics.engineWaited);
  metrics.watch('engine_waiting', slots.waiting);
  metrics.watch('engine_work_waiting', work.waiting);
}

/** An external engine's containers are not watched. */
const NOT_SEEN = { read: async () => null };

/** For administrators: the engine, and missing fixes for known escapes. */
const detailOf = ({ kind, version, warning }: RunningEngine): string =>
  `${kind}, ${version}${warning === null ? '' : `; ${warning}`}`;
