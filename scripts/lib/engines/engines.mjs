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
 * Unpacks an engine, once. Nothing is installed.
 * @param {string} name
 * @param {string} cache
 * @returns {Promise<string>} the folder that stands for `/`
 */
export function unpackEngine(name, cache) {
  const { packages } = /** @type {EngineKind} */ (ENGINES[name]);
  const archive = {
    cache,
    suites: ['bookworm', 'trixie', 'sid'],
    why: "engines are unpacked from Debian's packages",
  };
  return unpack(archive, path.join('programs', name), packages);
}

/**
 * Unpacks an engine and starts it; it has caches, data and a bridge of its own.
 * @param {string} name
 * @param {string} cache
 */
export async function startEngine(name, cache) {
  const folder = await unpackEngine(name, cache);
  const { start } = /** @type {EngineKind} */ (ENGINES[name]);
  return await start(folder, path.join(cache, 'data', name));
}
