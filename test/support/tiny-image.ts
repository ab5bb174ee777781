import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type Docker from 'dockerode';
import { BASE_CHANGES } from '../../src/adapters/docker/base-recipe.ts';
import { runOrThrow, which } from '../../src/adapters/docker/host.ts';
import { followToEnd } from '../../src/adapters/docker/progress.ts';

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
