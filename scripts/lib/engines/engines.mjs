import path from 'node:path';
import { unpack } from '../debian/packages.mjs';
import { dockerEnvironment } from './docker.mjs';
import { startPodman } from './podman.mjs';

/**
 * An engine of a release of Debian. `start` gives the environment in which the tests find it.
 * @typedef {{
 *   packages: readonly string[],
 *   start: (folder: string, home: string) => Promise<{ version: string, env: NodeJS.ProcessEnv, stop: () => Promise<void> }>,
 * }} EngineKind
 */

/** Of all: newer ones need a newer libc than that of Debian 12. */
const RUNTIME = ['runc/bookworm', 'tini/bookworm'];

/** @type {Readonly<Record<string, EngineKind>>} */
export const ENGINES = {
  'docker-20.10': {
    packages: ['docker.io/bookworm', 'containerd/bookworm', ...RUNTIME],
    start: dockerEnvironment,
  },
  'docker-26': { packages: ['docker.io/trixie', 'containerd/trixie', ...RUNTIME], start: dockerEnvironment },
  'docker-28': { packages: ['docker.io/sid', 'containerd/sid', ...RUNTIME], start: dockerEnvironment },
  'podman-4.3': {
    packages: [
      'podman/bookworm',
      'conmon/bookworm',
      'netavark/bookworm',
      'aardvark-dns/bookworm',
      'golang-github-containers-common/bookworm',
      'golang-github-containers-image/bookworm',
      'catatonit/bookworm',
      'libgpgme11/bookworm',
      'libassuan0/bookworm',
      'libsubid4/bookworm',
      'libyajl2/bookworm',
      ...RUNTIME,
    ],
    start: startPodman,
  },
};

/**
 * Unpacks an engine, once, and starts it. Nothing is installed; it has caches, data and a bridge of its own.
 * @param {string} name
 * @param {string} cache
 */
export async function startEngine(name, cache) {
  const kind = /** @type {EngineKind} */ (ENGINES[name]);
  const archive = {
    cache,
    suites: ['bookworm', 'trixie', 'sid'],
    why: "engines are unpacked from Debian's packages",
  };
  const folder = await unpack(archive, path.join('programs', name), kind.packages);
  return await kind.start(folder, path.join(cache, 'data', name));
}
