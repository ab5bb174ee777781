import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { ARCHIVE_KEYS, BASE_CHANGES, buildArgs, machineRecipe } from './base-recipe.ts';
import type { BaseImageSettings, Draft } from './base-settings.ts';
import { adminPath, isRoot, lastLines, lineSplitter } from './host.ts';
import { installPackages, missingPackages } from './packages.ts';
import { followToEnd } from './progress.ts';

const BUILD_SECONDS = 900;
const REPORT_MS = 3000;

/** Builds the image from the packages of this machine's own distribution and imports it as the draft. */
export async function buildFromPackages(
  docker: Docker,
  draft: Draft,
  settings: BaseImageSettings,
): Promise<void> {
  if (!isRoot()) throw new Error('building the base image needs root');
  const tools = await missingPackages({ mmdebstrap: 'mmdebstrap' });
  const absent = existsSync(ARCHIVE_KEYS) ? tools : [...tools, 'debian-archive-keyring'];
  if (absent.length > 0) await installPackages(absent, settings.progress, settings.log);
  const recipe = await machineRecipe();
  const build = startBuild(buildArgs(recipe), recipe.env, settings);
  const imported = importDraft(docker, draft, build.archive);
  // A failed build ends the archive early, which the engine may take for its end: only both count.
  const [built, arrived] = await Promise.allSettled([build.done, imported]);
  if (built.status === 'rejected') throw built.reason;
  if (arrived.status === 'rejected') throw arrived.reason;
}

async function importDraft(docker: Docker, { repo, tag }: Draft, archive: Readable): Promise<void> {
  const options = {
    repo,
    tag,
    changes: [...BASE_CHANGES],
    abortSignal: AbortSignal.timeout(BUILD_SECONDS * 1000),
  };
  const answer = await docker.importImage(archive, options);
  await followToEnd(docker, answer, () => {});
}

type Build = { readonly archive: Readable; readonly done: Promise<void> };

function startBuild(args: readonly string[], env: NodeJS.ProcessEnv, { progress }: BaseImageSettings): Build {
  const startedAt = Date.now();
  let step = 'starting';
  let output = '';
  const report = (): void =>
    progress(`building the base image: ${step} (${Math.round((Date.now() - startedAt) / 1000)} s)`);
  const child = spawn('mmdebstrap', args, {
    env: { ...process.env, ...env, PATH: adminPath(), LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const onLine = (line: string): void => {
    output = `${output}\n${line}`.slice(-2000);
    if (line.startsWith('I: ')) step = line.slice(3, 80);
  };
  child.stderr.on('data', lineSplitter(onLine));
  const timer = setInterval(report, REPORT_MS);
  const limit = setTimeout(() => child.kill(), BUILD_SECONDS * 1000);
  report();
  const done = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`mmdebstrap: ${lastLines(output, 3)}`)),
    );
  }).finally(() => {
    clearInterval(timer);
    clearTimeout(limit);
  });
  return { archive: child.stdout, done };
}
