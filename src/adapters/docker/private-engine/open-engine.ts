import type Docker from 'dockerode';
import { addRecord, otherCluster, type Recorded, readRecords, recordUse } from '../../engine-record.ts';
import {
  addressOf,
  DEFAULT_SOCKET,
  engineIdOf,
  floorWarning,
  type Probe,
  probe,
  tooOld,
} from '../engine/engine-probe.ts';
import { installPackages, missingEnginePackages } from '../engine/host-packages.ts';
import { isRoot, type Log, which } from '../host/host-commands.ts';
import { limitsWarning, lowLimits } from '../kernel/kernel-limits.ts';
import {
  type LxcfsSetting,
  noView,
  openView,
  type ResourceView,
  viewFrom,
} from '../resource-view/resource-view.ts';
import { missingPoolPackages, type PoolFault } from './engine-pool.ts';
import { findDaemon, startPrivateEngine } from './private-engine.ts';
import { type Layout, layoutOf } from './private-engine-paths.ts';
import { clearPrivateEngine, stopPrivateEngine } from './private-engine-stop.ts';

export type EngineSettings = {
  /** The folder of a private engine's images, containers and volumes. */
  readonly dataDir: string;
  /** `external` forbids a private engine and package installation. */
  readonly mode: 'auto' | 'external';
  readonly dockerHost: string | null;
  readonly certPath?: string | null;
  /** Size of the private engine's file system in MB; null: the default. 0: none. */
  readonly poolMb?: number | null;
  /** Free space that the host needs; null for the rule of `floorBytes`. */
  readonly floorMb?: number | null;
  /** The default is `auto`. */
  readonly lxcfs?: LxcfsSetting;
  /** Called before long work and before changes to this machine. */
  readonly progress: (message: string) => void;
  readonly log: Log;
  /** Aborts the search, which throws and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
};

type Stoppable = {
  /** Ends what was started here: containers, engine, bridges, rules. Does nothing to an external engine. */
  stop(): Promise<void>;
};

export type RunningEngine = Stoppable & {
  readonly kind: 'external' | 'private';
  readonly docker: Docker;
  /** As a DOCKER_HOST value. */
  readonly endpoint: string;
  readonly version: string;
  /** It is on this machine, with a reachable packet filter and files. */
  readonly isLocal: boolean;
  readonly mend: null;
  /** Why its data shares a file system; null when it has its own, or for an external engine. */
  readonly poolFault: PoolFault;
  readonly view: ResourceView;
  /** A warning for the operator, or null. */
  readonly warning: string | null;
  /** Restarts a private engine whose process has ended. Does nothing to a running or external one. */
  revive(): Promise<void>;
};

export type MissingEngine = Stoppable & {
  readonly kind: 'none';
  readonly docker: null;
  readonly endpoint: null;
  readonly version: null;
  readonly isLocal: false;
  /** The step that fixes it. */
  readonly mend: string;
  readonly warning: null;
};

export type Engine = RunningEngine | MissingEngine;

const DEFAULT_ENDPOINT = `unix://${DEFAULT_SOCKET}`;

/** Finds an engine that answers, else starts a private one where possible. Throws only by its signal. */
export async function openEngine(settings: EngineSettings): Promise<Engine> {
  const at = layoutOf(settings.dataDir);
  // Before any engine is looked for: a manager's answers, too, and lacks what the nodes have.
  const other = await otherCluster(settings.dataDir, 'external');
  if (other !== null) return missing(other);
  const recorded = (await readRecords(at))[0] ?? null;
  const keepsPrivate =
    recorded?.kind === 'private' && settings.dockerHost === null && settings.mode === 'auto';
  const probed = keepsPrivate ? [] : await probeEndpoints(settings);
  settings.signal?.throwIfAborted();
  const found = probed.find((each) => each.answer?.answers === true);
  if (found?.answer?.answers === true)
    return await useExternal(settings, recorded, found.endpoint, found.answer);
  if (settings.mode === 'external') return missing(mendExternal(probed, 'unset BERTH_ENGINE'));
  if (recorded?.kind === 'external') {
    return missing(
      `start the engine at ${recorded.endpoint}, which this installation uses, or delete ${at.record}`,
    );
  }
  if (!isRoot()) return missing(mendExternal(probed, 'start Berth as root'));
  return await usePrivate(settings, at, recorded?.kind === 'private' ? recorded.remap : null);
}

type Probed = { readonly endpoint: string; readonly answer: Probe | null; readonly fault: string | null };

async function probeEndpoints({ dockerHost, certPath, log }: EngineSettings): Promise<readonly Probed[]> {
  const endpoints = dockerHost === null ? [DEFAULT_ENDPOINT] : [dockerHost, DEFAULT_ENDPOINT];
  const probed = await Promise.all(endpoints.map((endpoint) => probeEndpoint(endpoint, certPath ?? null)));
  const first = probed[0];
  if (dockerHost !== null && first?.answer?.answers !== true) {
    log.warn(
      `no engine responds at DOCKER_HOST=${dockerHost}${first?.fault === null ? '' : `: ${first?.fault}`}`,
    );
  }
  return probed;
}

async function probeEndpoint(endpoint: string, certPath: string | null): Promise<Probed> {
  try {
    const answer = await probe(addressOf(endpoint, endpoint === DEFAULT_ENDPOINT ? null : certPath));
    return { endpoint, answer, fault: answer.answers ? tooOld(answer.version) : answer.detail };
  } catch (error) {
    return { endpoint, answer: null, fault: error instanceof Error ? error.message : String(error) };
  }
}

async function useExternal(
  { dataDir, log, lxcfs = 'auto' }: EngineSettings,
  recorded: Recorded | null,
  endpoint: string,
  answer: Extract<Probe, { answers: true }>,
): Promise<Engine> {
  const old = tooOld(answer.version);
  if (old !== null) return missing(`${old}: update the engine at ${endpoint}`);
  const before =
    recorded === null ? null : recorded.kind === 'private' ? 'a private engine' : recorded.endpoint;
  const moved =
    before === null || before === endpoint ? null : `containers created on ${before} are not on ${endpoint}`;
  const id = (await engineIdOf(answer)) ?? undefined;
  await recordUse(dataDir, { kind: 'external', endpoint, id }, log);
  const isLocal = endpoint.startsWith('unix://');
  return {
    kind: 'external',
    docker: answer.docker,
    endpoint,
    version: answer.version.engine,
    isLocal,
    mend: null,
    poolFault: 'it is not run by Berth',
    view: externalView(lxcfs, isLocal),
    warning: joined(moved, floorWarning(answer.version), isLocal ? limitsWarning(await lowLimits()) : null),
    revive: async () => {},
    stop: async () => {},
  };
}

/** An external engine may be on another machine, so only an operator knows of an lxcfs there. */
function externalView(setting: LxcfsSetting, isLocal: boolean): ResourceView {
  if (setting === 'auto') return noView('BERTH_LXCFS does not name an lxcfs beside the engine');
  return setting === 'off' ? noView('it is turned off') : viewFrom(setting, isLocal);
}

async function usePrivate(settings: EngineSettings, at: Layout, remap: boolean | null): Promise<Engine> {
  const { log, progress, signal } = settings;
  const pool = { poolMb: settings.poolMb ?? null, floorMb: settings.floorMb ?? null };
  try {
    const absent = await missingEnginePackages();
    if (absent.length > 0) await installPackages(absent, settings);
    await installPoolTools(settings);
    // Without a network an installation takes minutes; with new packages there is one.
    const view = await openView(at, settings.lxcfs ?? 'auto', settings, absent.length > 0);
    const engine = await startPrivateEngine(at, pool, remap, progress, signal);
    if (remap === null) await addRecord(settings.dataDir, { kind: 'private', remap: engine.remapped });
    const exposed = engine.remapped
      ? null
      : 'user namespaces are not available: root in a container is root on this machine, though confined';
    return {
      kind: 'private',
      docker: engine.docker,
      endpoint: `unix://${at.socket}`,
      version: engine.version.engine,
      isLocal: true,
      mend: null,
      poolFault: engine.poolFault,
      view,
      warning: joined(exposed, floorWarning(engine.version), limitsWarning(await lowLimits())),
      revive: async () => {
        if (engine.shared || (await findDaemon(at)) !== null) return;
        await startPrivateEngine(at, pool, engine.remapped, progress);
      },
      stop: async () => {
        if (!engine.shared) await stopPrivateEngine(at, engine.docker, log);
      },
    };
  } catch (error) {
    await clearPrivateEngine(at);
    signal?.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    log.error(`private engine: ${reason}`);
    return missing(`${await privateStep(at)} (${reason})`);
  }
}

/** Without them the engine shares its file system, and reports why. */
async function installPoolTools(settings: EngineSettings): Promise<void> {
  const absent = await missingPoolPackages();
  if (absent.length === 0) return;
  await installPackages(absent, settings).catch((error: unknown) => {
    settings.signal?.throwIfAborted();
    settings.log.warn(`file system of the engine: ${String(error)}`);
  });
}

/** In place of an engine that is not looked for, or not found. */
export const missing = (mend: string): MissingEngine => ({
  kind: 'none',
  docker: null,
  endpoint: null,
  version: null,
  isLocal: false,
  mend,
  warning: null,
  stop: async () => {},
});

function mendExternal(probed: readonly Probed[], otherwise: string): string {
  const forbidden = probed.some(({ answer }) => answer?.answers === false && answer.reason === 'forbidden');
  if (forbidden) return 'sudo usermod -aG docker $USER, then sign in again';
  return `start Docker (sudo systemctl start docker) or set DOCKER_HOST; or ${otherwise}, so that Berth starts its own engine`;
}

/** The step that fixes a private engine that could not start. */
async function privateStep(at: Layout): Promise<string> {
  const absent = await missingEnginePackages();
  if (absent.length === 0) return `see ${at.log}, or start Docker and set DOCKER_HOST`;
  const canInstall = (await which('apt-get')) !== null;
  return canInstall
    ? `apt-get update && apt-get install ${absent.join(' ')}`
    : 'install Docker 20.10 or newer';
}

const joined = (...parts: readonly (string | null)[]): string | null =>
  parts.filter((part) => part !== null).join('; ') || null;
