import { copyFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { ensurePrograms } from '../debian/programs.mjs';
import { unpackEngine } from '../engines/engines.mjs';
import { baseArchive, baseRecipe } from '../image/base-archive.mjs';
import { makeAuthority, makeCertificate } from '../namespaces/certificates.mjs';
import { claimFolder } from '../namespaces/cluster-folder.mjs';
import { runFirstProcess } from '../namespaces/first-process.mjs';
import { newCable } from './cable.mjs';
import { nodesOf } from './nodes.mjs';

const INSIDE = path.join(import.meta.dirname, 'inside.mjs');
const IMAGE = 'berth/debian:12';
/** As archives are named for every kind of cluster. */
const ARCHIVED = `docker.io/${IMAGE}`;
/** Programs of the machine, with their packages; the engines are unpacked into the cache. */
const PROGRAMS = { ip: 'iproute2', iptables: 'iptables', mmdebstrap: 'mmdebstrap', openssl: 'openssl' };

/**
 * `certificates`: a folder as DOCKER_CERT_PATH names it. `orders`: the socket that takes orders, for tests of faults.
 * @typedef {{ engine: string, image: string, certificates: string, orders: string,
 *   nodes: readonly { name: string, address: string, socket: string }[] }} SwarmFacts The manager is the first node.
 */

/**
 * Starts a Swarm of three nodes that have the base image, with this kind of engine, in namespaces of its own: of the machine
 * it uses only a folder, a cable and a control group. Needs root.
 * @param {string} root
 * @param {{ cache: string, engine: string, progress: (line: string) => void }} options
 * @returns {Promise<SwarmFacts & { stop: () => Promise<void> }>}
 */
export async function startOwnSwarm(root, { cache, engine, progress }) {
  await ensurePrograms(PROGRAMS, { progress });
  progress(`unpacking ${engine}`);
  const programs = await unpackEngine(engine, path.join(cache, 'engines'));
  progress('preparing the base image');
  const image = await baseArchive(root, path.join(cache, 'images'), ARCHIVED);
  const own = path.join(cache, 'swarm');
  const claimed = claimFolder(own, 'swarm');
  const cable = await newCable();
  const certificates = path.join(claimed.folder, 'certificates');
  try {
    const nodes = nodesOf({ ...claimed, ...cable });
    const issued = await issueCertificates(claimed.folder, certificates, nodes);
    const plan = {
      ...claimed,
      ...issued,
      programs,
      image,
      subnet: cable.subnet,
      template: path.join(own, `${engine}-${baseRecipe(root)}`),
    };
    /** @param {import('node:child_process').ChildProcess} child */
    const begin = async (child) => {
      await cable.plugIn(child.pid ?? 0);
      child.send({ isCabled: true });
    };
    const stop = await runFirstProcess(INSIDE, plan, { progress, begin });
    const orders = path.join(claimed.folder, 'orders.sock');
    return { engine, image: IMAGE, certificates, orders, nodes, stop };
  } catch (error) {
    await cable.unplug();
    throw error;
  }
}

/**
 * Those of the nodes' engines and of their client, whose folder is as Docker names one.
 * @param {string} folder
 * @param {string} certificates
 * @param {readonly import('./nodes.mjs').Node[]} nodes
 */
async function issueCertificates(folder, certificates, nodes) {
  mkdirSync(certificates, { mode: 0o700 });
  const authority = await makeAuthority(folder, 'swarm');
  const names = nodes.map(({ address }) => `IP:${address}`);
  const server = await makeCertificate(authority, folder, { file: 'server', name: 'node', names });
  const client = await makeCertificate(authority, folder, { file: 'client', name: 'berth' });
  for (const [from, to] of [
    [authority.certificate, 'ca.pem'],
    [client.certificate, 'cert.pem'],
    [client.key, 'key.pem'],
  ])
    copyFileSync(`${from}`, path.join(certificates, `${to}`));
  return { authority: authority.certificate, server };
}
