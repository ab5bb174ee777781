import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type Docker from 'dockerode';
import type { Test } from 'tap';
import { addressOf, DEFAULT_SOCKET, probe } from '../../../src/adapters/docker/engine/engine-probe.ts';
import { followToEnd } from '../../../src/adapters/docker/engine/engine-progress.ts';
import { isRoot, runOrThrow, which } from '../../../src/adapters/docker/host/host-commands.ts';
import { BASE_CHANGES, BASE_REFERENCE } from '../../../src/adapters/docker/images/base-image-recipe.ts';
import {
  type Engine,
  openEngine,
  type RunningEngine,
} from '../../../src/adapters/docker/private-engine/open-engine.ts';
import { silentLog } from '../silent-log.ts';
import { engineOrSkip, type TestEngine } from './engine.ts';

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

/** Has the private engine of a data folder do this work, and stops it again. */
async function whileOpen(dataDir: string, work: (docker: Docker) => Promise<void>): Promise<void> {
  const own = await openOwn(dataDir);
  await work(own.docker).finally(() => own.stop());
}

/** Puts the base image of the run's engine into the private engine of a data folder. */
export const stockWithImage = (shared: TestEngine, dataDir: string): Promise<void> =>
  whileOpen(dataDir, async (docker) => {
    const image = await shared.docker.getImage(shared.image).get();
    await followToEnd(await docker.loadImage(image), () => {});
  });

/** Puts an image in the place of the base image that has these programs alone, which takes next to no time. */
export const stockWithTinyImage = (dataDir: string, programs: readonly string[]): Promise<void> =>
  whileOpen(dataDir, (docker) => tinyImage(docker, BASE_REFERENCE, programs));

/** The engine of this run, when this machine can also have one of our own beside it; else the test is skipped. */
export async function bothEnginesOrSkip(t: Test): Promise<TestEngine | null> {
  const reason = await noEngineOfOurOwn();
  if (reason === null) return await engineOrSkip(t);
  t.pass('engine', { skip: reason });
  return null;
}

/**
 * Makes an image of programs of this machine with their libraries, so that no download is needed. It carries the settings of
 * the base image, so that the service takes it for that one.
 */
export async function tinyImage(
  docker: Docker,
  reference: string,
  programs: readonly string[],
): Promise<void> {
  const found = (await Promise.all(['sh', ...programs].map(which))).filter((path) => path !== null);
  const linked = await runOrThrow('ldd', found);
  const libraries = [...linked.matchAll(/(\/\S+)(?= \(0x)/g)].map((match) => match[1] ?? '');
  const files = [...new Set([...found, ...libraries])].filter((path) => existsSync(path));
  const archive = spawn('tar', ['-ch', ...files], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [repo = '', tag = 'latest'] = reference.split(':');
  await followToEnd(
    await docker.importImage(archive.stdout, { repo, tag, changes: [...BASE_CHANGES] }),
    () => {},
  );
}
