import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from '../command.mjs';
import { must } from '../debian/packages.mjs';
import { Fault } from '../fault.mjs';
import { startCluster } from './cluster.mjs';
import { BASE_IMAGE, baseImage, PAUSE_IMAGE, pauseImage } from './images.mjs';
import { unpackTools } from './packages.mjs';
import { buildServers } from './servers.mjs';

const RECIPE = 'src/adapters/docker/images/base-image-recipe.ts';
/** Programs of the machine, with their packages; all others are unpacked into the cache. */
const PROGRAMS = {
  ip: 'iproute2',
  iptables: 'iptables',
  make: 'make',
  mmdebstrap: 'mmdebstrap',
  openssl: 'openssl',
};
const INSTALL = ['install', '--yes', '--no-install-recommends'];

/**
 * Builds what is not in the cache, and starts a cluster that has the base image.
 * @param {string} root
 * @param {{ cache: string, port?: number, progress: (line: string) => void }} options
 */
export async function startOwnCluster(root, { cache: parent, port, progress }) {
  await ensurePrograms(progress);
  const cache = path.join(parent, 'kubernetes');
  mkdirSync(cache, { recursive: true });
  const programs = await buildServers(cache, progress);
  const tools = await unpackTools(cache);
  progress('preparing images');
  const recipe = createHash('sha256')
    .update(readFileSync(path.join(root, RECIPE)))
    .digest('hex')
    .slice(0, 12);
  const images = [await pauseImage(cache, tools), await baseImage(root, cache, recipe)];
  const cluster = await startCluster({
    cache,
    programs,
    tools,
    pauseImage: PAUSE_IMAGE,
    images,
    progress,
    ...(port !== undefined && { port }),
  });
  return { ...cluster, kubectl: path.join(tools, 'usr/bin/kubectl'), image: BASE_IMAGE };
}

/** @param {(line: string) => void} progress */
async function ensurePrograms(progress) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Fault(
      "a cluster of one's own needs root on Linux: or set KUBECONFIG to one that may be used for tests",
    );
  /** @type {string[]} */
  const absent = [];
  for (const [program, name] of Object.entries(PROGRAMS)) if (!(await isThere(program))) absent.push(name);
  if (absent.length === 0) return;
  progress(`installing ${absent.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  await must('apt-get', [...INSTALL, ...absent], { cwd: '/', env });
}

/** @param {string} program */
async function isThere(program) {
  const { code } = await capture('sh', ['-c', 'command -v "$0"', program], { cwd: '/' });
  return code === 0;
}
