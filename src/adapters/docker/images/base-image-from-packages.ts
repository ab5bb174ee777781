import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import { lineSplitter, programEnvironment, startChild } from '../../child-process.ts';
import { withTimeout } from '../engine/engine-client.ts';
import { followToEnd } from '../engine/engine-progress.ts';
import { installPackages, missingPackages } from '../engine/host-packages.ts';
import { adminPath, isRoot, lastLines, mountsBelow, run } from '../host/host-commands.ts';
import { FORGET_MOUNTS } from '../volumes/loop-device-script.ts';
import {
  ARCHIVE_KEYS,
  BASE_CHANGES,
  type BaseImageSettings,
  buildArgs,
  type Draft,
  machineRecipe,
  type Recipe,
} from './base-image-recipe.ts';

const BUILD_SECONDS = 900;
/** A step that takes longer is reported again, this often. */
const REPORT_MS = 15_000;

/** Builds the image from the packages of this machine's distribution and imports it as the draft. */
export async function buildFromPackages(
  docker: Docker,
  draft: Draft,
  settings: BaseImageSettings,
): Promise<void> {
  if (!isRoot()) throw new Error('building the base image needs root');
  const tools = await missingPackages({ mmdebstrap: 'mmdebstrap' });
  const absent = existsSync(ARCHIVE_KEYS) ? tools : [...tools, 'debian-archive-keyring'];
  if (absent.length > 0 && settings.mayInstall === false)
    throw new Error(`building it from packages needs ${absent.join(' and ')} on this machine`);
  if (absent.length > 0) await installPackages(absent, settings);
  const recipe = await machineRecipe();
  const folder = await mkdtemp(join(tmpdir(), 'berth-image-'));
  try {
    await chmod(folder, 0o755);
    const build = await startBuild(recipe, folder, settings);
    const imported = importDraft(docker, draft, build.archive, settings.signal);
    let isCut = false;
    // The build would wait for a reader of its archive.
    imported.catch(() => {
      isCut = !build.archive.readableEnded;
      build.archive.destroy();
    });
    // A failed build ends the archive early, which the engine may accept, so both must succeed.
    const [built, arrived] = await Promise.allSettled([build.done, imported]);
    if (built.status === 'rejected' && !isCut) throw built.reason;
    if (arrived.status === 'rejected') throw arrived.reason;
  } finally {
    await removeFolder(folder);
  }
}

/** Removes a build's leftovers, unless a file system of the host is still mounted there. */
async function removeFolder(folder: string): Promise<void> {
  for (const mount of (await mountsBelow(folder)).toReversed()) await run('umount', ['--lazy', mount]);
  if ((await mountsBelow(folder)).length === 0) await rm(folder, { recursive: true, force: true });
}

/** Sends an archive to the engine as a draft. The archive may begin late; it rejects with the engine's error. */
export async function importDraft(
  docker: Docker,
  { repo, tag }: Draft,
  archive: Readable,
  signal?: AbortSignal,
): Promise<void> {
  // An engine closes a connection on which nothing comes for five minutes, and a slow build takes longer.
  await once(archive, 'readable');
  const options = {
    repo,
    tag,
    changes: [...BASE_CHANGES],
    abortSignal: withTimeout(BUILD_SECONDS, signal),
  };
  const answer = await docker.importImage(archive, options);
  await followToEnd(answer, () => {});
}

type Build = { readonly archive: Readable; readonly done: Promise<void> };

async function startBuild(
  { env, ...recipe }: Recipe,
  folder: string,
  { progress, signal }: BaseImageSettings,
): Promise<Build> {
  const startedAt = performance.now();
  let step = 'starting';
  let output = '';
  const report = (): void =>
    progress(`building the base image: ${step} (${Math.round((performance.now() - startedAt) / 1000)} s)`);
  const own = { PATH: adminPath(), LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive', TMPDIR: folder };
  const [program, args] = await inNamespaces('mmdebstrap', buildArgs({ env, ...recipe }));
  const limit = withTimeout(BUILD_SECONDS, signal);
  const child = await startChild(program, args, {
    env: { ...programEnvironment(), ...env, ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: limit,
  });
  const onLine = (line: string): void => {
    output = `${output}\n${line}`.slice(-2000);
    if (!line.startsWith('I: ') || line.slice(3, 80) === step) return;
    step = line.slice(3, 80);
    report();
    timer.refresh();
  };
  child.stderr?.on('data', lineSplitter(onLine));
  const timer = setInterval(report, REPORT_MS);
  report();
  const done = new Promise<void>((resolve, reject) => {
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`mmdebstrap: ${lastLines(output, 3)}`)),
    );
  }).finally(() => clearInterval(timer));
  return { archive: child.stdout as Readable, done };
}

const IN_NAMESPACES = `${FORGET_MOUNTS}exec "$0" "$@"`;

/**
 * In its own namespaces, where available, so that the build's processes and mounts end with it, and no volume stays in
 * use for as long.
 */
async function inNamespaces(program: string, args: readonly string[]): Promise<[string, readonly string[]]> {
  const flags = ['--mount', '--pid', '--fork', '--kill-child'];
  const { code } = await run('unshare', [...flags, 'true']);
  return code === 0 ? ['unshare', [...flags, 'sh', '-c', IN_NAMESPACES, program, ...args]] : [program, args];
}
