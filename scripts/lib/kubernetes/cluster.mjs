import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { claimFolder } from '../namespaces/cluster-folder.mjs';
import { runFirstProcess } from '../namespaces/first-process.mjs';
import { kubeconfig, makeCredentials } from './certificates.mjs';
import { auditLog } from './daemons.mjs';

const INSIDE = path.join(import.meta.dirname, 'inside.mjs');

/**
 * `orders` is the socket that takes orders, for tests of faults; `stop` ends everything and removes it.
 * @typedef {{ kubeconfig: string, folder: string, audit: string, orders: string, stop: () => Promise<void> }} Cluster
 */

/**
 * Starts a cluster of one node, or of none, in namespaces of its own: of the machine it uses only a folder, a port of
 * loopback and a control group. Needs root.
 * @param {{ cache: string, programs: string, tools: string, pauseImage: string, images: readonly string[], hasNode: boolean,
 *   port?: number, progress: (line: string) => void }} options
 * @returns {Promise<Cluster>}
 */
export async function startCluster({ cache, progress, port = 0, ...rest }) {
  const claimed = claimFolder(cache, 'kubernetes');
  const { folder } = claimed;
  const credentials = await makeCredentials(folder);
  const own = {
    server: 'https://127.0.0.1:6443',
    authority: credentials.authority,
    token: credentials.adminToken,
  };
  writeFileSync(path.join(folder, 'admin.conf'), kubeconfig(own), { mode: 0o600 });

  const door = createServer();
  await new Promise((resolve, reject) => {
    door.once('error', reject).listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const { port: chosen } = /** @type {import('node:net').AddressInfo} */ (door.address());
  const outside = path.join(folder, 'kubeconfig');
  writeFileSync(outside, kubeconfig({ ...own, server: `https://127.0.0.1:${chosen}` }), { mode: 0o600 });

  const plan = { ...rest, ...claimed, credentials };
  /** @param {import('node:child_process').ChildProcess} child From here on the cluster alone listens there. */
  const begin = (child) =>
    new Promise((/** @type {(_: void) => void} */ resolve, reject) => {
      child.send({}, door, (error) => {
        door.close();
        if (error === null) resolve();
        else reject(error);
      });
    });
  const stop = await runFirstProcess(INSIDE, plan, { progress, begin });
  const orders = path.join(folder, 'orders.sock');
  return { kubeconfig: outside, folder, audit: auditLog(folder), orders, stop };
}
