import type { Engine } from '../../../adapters/docker/private-engine/open-engine.ts';
import { repeat } from '../../../concurrency/repeat.ts';
import type { Logger } from '../../../ports/logger.ts';
import { type Parts, PREPARING } from '../health/readiness.ts';
import type { SparingLog } from '../process/sparing-log.ts';
import { type AttachOptions, attach, NOT_KNOWN, WAITING } from './attach-engine.ts';
import { type EngineParts, type EngineSlot, engineSlot } from './engine-ports.ts';
import { findEngine, searchModes } from './find-engine.ts';
import { NOT_TESTED } from './isolation-check.ts';
import { startIsolationUpkeep } from './isolation-upkeep.ts';
import type { SwarmRecord } from './swarm-record.ts';

const SEARCH_AGAIN_MS = 5_000;
const SPACE_EVERY_MS = 30_000;
const RULES_EVERY_MS = 30_000;
const REVIVE_EVERY_MS = 3_000;
const SPREAD_EVERY_MS = 10_000;

export type FoundEngine = {
  readonly engine: Engine;
  /** Of the search, which is repeated while there is no engine. */
  readonly searchLog: SparingLog;
  /** Receives, before anything starts, the function that stops the engine and all its work. */
  readonly stopWith: (stop: () => Promise<void>) => void;
};

export type EngineSetUp = AttachOptions & {
  /** Called when an engine becomes usable, and when something in it may have changed. */
  readonly onHint: () => void;
  readonly installation: SwarmRecord;
};

export type EngineInUse = EngineParts & { readonly parts: Parts };

/**
 * Connects the ports to the engine. Without one they refuse, and the search repeats every few seconds. Throws when the
 * signal comes first; the function given to `stopWith` stops what was started.
 */
export async function useEngine(
  { engine: found, searchLog, stopWith }: FoundEngine,
  setUp: EngineSetUp,
): Promise<EngineInUse> {
  const { log, signal } = setUp;
  const slot = engineSlot();
  const parts: Parts = { ...AT_START };
  const isolation = startIsolationUpkeep({ slot, parts, log, rulesEveryMs: RULES_EVERY_MS });
  let engine = found;
  let timer: NodeJS.Timeout | undefined;
  let searching: Promise<void> = Promise.resolve();
  let preparing: Promise<void> = Promise.resolve();
  let unwatch = (): void => {};
  const stopUpkeep = startEngineUpkeep(() => engine, slot, log);
  stopWith(async () => {
    clearTimeout(timer);
    unwatch();
    await stopUpkeep();
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
      searchLog.error({ err: error }, 'engine is not usable');
      parts.engine = NOT_USABLE;
      parts.image = WAITING;
    }
    if (parts.engine.status === 'ready') {
      unwatch = slot.runtime.watch(setUp.onHint);
      searchLog.over('a container engine is in use');
    } else timer = setTimeout(searchAgain, SEARCH_AGAIN_MS);
  };
  const modeNow = searchModes(setUp.config);
  const searchAgain = (): void => {
    if (signal.aborted) return;
    const search = async (): Promise<void> => {
      const mode = modeNow();
      const { config, installation } = setUp;
      const other =
        engine.kind === 'none'
          ? await findEngine(config, { log: searchLog, signal, installation, mode })
          : engine;
      // A search for external engines says nothing about the private one, so its status stays.
      if (other.kind !== 'none' || mode === 'auto') engine = other;
      await bringUp();
    };
    searching = search().catch((err: unknown) => {
      if (signal.aborted) return;
      searchLog.warn({ err }, 'could not search for a container engine');
      timer = setTimeout(searchAgain, SEARCH_AGAIN_MS);
    });
  };
  await bringUp();
  return { ...slot, parts };
}

const AT_START: Parts = {
  engine: PREPARING,
  image: PREPARING,
  disk: PREPARING,
  isolation: NOT_TESTED,
  resources: NOT_KNOWN,
};

const NOT_USABLE = {
  status: 'degraded',
  detail: 'the engine is not usable',
  reason: 'unusable',
  mend: 'see the log',
} as const;

/** Starts the repeated work on the engine. Returns the function that stops it. */
function startEngineUpkeep(engine: () => Engine, slot: EngineSlot, log: Logger): () => Promise<void> {
  const stops = [
    repeat(REVIVE_EVERY_MS, () => revive(engine(), slot.runtime.ping), log),
    repeat(SPREAD_EVERY_MS, () => slot.spread(), log),
    repeat(SPACE_EVERY_MS, () => slot.describe(), log),
  ];
  return async () => {
    for (const stop of stops) await stop();
  };
}

/**
 * Restarts a killed private engine, whose containers kept running, and then the supervisor of its lxcfs. Each is tried
 * whatever becomes of the other; throws the first fault.
 */
export async function revive(engine: Engine, ping: () => Promise<unknown>): Promise<void> {
  if (engine.kind !== 'private') return;
  const answers = await ping().then(
    () => true,
    () => false,
  );
  try {
    if (!answers) await engine.revive();
  } finally {
    await engine.view.supervise();
  }
}
