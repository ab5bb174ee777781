import type { Test } from 'tap';
import { type Engine, openEngine, type RunningEngine } from '../../src/adapters/docker/engine.ts';
import { addressOf, DEFAULT_SOCKET, probe } from '../../src/adapters/docker/engine-probe.ts';
import { isRoot } from '../../src/adapters/docker/host.ts';
import { engineOrSkip, silentLog, type TestEngine } from './engine.ts';

/** Why this machine can have no engine of our own, or null. */
export async function noEngineOfOurOwn(): Promise<string | null> {
  if (!isRoot()) return 'an engine of our own needs root';
  const { answers } = await probe(addressOf(`unix://${DEFAULT_SOCKET}`, null));
  return answers ? 'this machine has an engine, so Berth starts none of its own' : null;
}

/** The private engine of a data folder, as the service would start it. */
export async function openOwn(dataDir: string): Promise<RunningEngine> {
  const settings = { dataDir, mode: 'auto', dockerHost: null, progress: () => {}, log: silentLog } as const;
  const engine: Engine = await openEngine(settings);
  if (engine.kind === 'none') throw new Error(engine.mend);
  return engine;
}

/** Puts the base image of the run's engine into the private engine of a data folder, and stops that one again. */
export async function stockWithImage(shared: TestEngine, dataDir: string): Promise<void> {
  const own = await openOwn(dataDir);
  try {
    const progress = await own.docker.loadImage(await shared.docker.getImage(shared.image).get());
    await new Promise((resolve, reject) => progress.resume().once('end', resolve).once('error', reject));
  } finally {
    await own.stop();
  }
}

/** The engine of this run, when this machine can also have one of our own beside it; else the test is skipped. */
export async function bothEnginesOrSkip(t: Test): Promise<TestEngine | null> {
  const reason = await noEngineOfOurOwn();
  if (reason === null) return await engineOrSkip(t);
  t.pass('engine', { skip: reason });
  return null;
}
