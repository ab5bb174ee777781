import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { ensurePrograms } from '../debian/programs.mjs';
import { baseArchive } from '../image/base-archive.mjs';
import { startCluster } from './cluster.mjs';
import { BASE_IMAGE, PAUSE_IMAGE, pauseImage } from './images.mjs';
import { unpackTools } from './packages.mjs';
import { buildServers } from './servers.mjs';

/** Programs of the machine, with their packages; all others are unpacked into the cache. */
const PROGRAMS = {
  ip: 'iproute2',
  iptables: 'iptables',
  make: 'make',
  mmdebstrap: 'mmdebstrap',
  openssl: 'openssl',
};

/**
 * Builds what is not in the cache, and starts a cluster that has the base image. Without a node it is an API server with
 * its database, and nothing runs there.
 * @param {string} root
 * @param {{ cache: string, port?: number, hasNode?: boolean, progress: (line: string) => void }} options
 */
export async function startOwnCluster(root, { cache: parent, port, hasNode = true, progress }) {
  await ensurePrograms(PROGRAMS, { progress, otherwise: 'set KUBECONFIG to one that may be used for tests' });
  const cache = path.join(parent, 'kubernetes');
  mkdirSync(cache, { recursive: true });
  const programs = await buildServers(cache, progress);
  const tools = await unpackTools(cache);
  if (hasNode) progress('preparing images');
  const images = hasNode
    ? [await pauseImage(cache, tools), await baseArchive(root, path.join(parent, 'images'), BASE_IMAGE)]
    : [];
  const cluster = await startCluster({
    cache,
    programs,
    tools,
    pauseImage: PAUSE_IMAGE,
    images,
    hasNode,
    progress,
    ...(port !== undefined && { port }),
  });
  return { ...cluster, kubectl: path.join(tools, 'usr/bin/kubectl'), image: BASE_IMAGE };
}
