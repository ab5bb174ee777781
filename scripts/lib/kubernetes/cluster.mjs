import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { Fault } from '../fault.mjs';
import { kubeconfig, makeCredentials } from './certificates.mjs';
import { auditLog } from './daemons.mjs';

const INSIDE = path.join(import.meta.dirname, 'inside.mjs');
/** A first process that waits for orphans too. It starts the cluster and ends with it. */
const FIRST = '"$@"; exit $?';
const PREFIX = 'c-';
const OWNER = 'owner';
const NAMESPACES = ['--mount', '--net', '--pid', '--ipc', '--uts', '--mount-proc', '--fork', '--kill-child'];

/**
 * `orders` is the socket that takes orders, for tests of faults; `stop` ends everything and removes it.
 * @typedef {{ kubeconfig: string, folder: string, audit: string, orders: string, stop: () => Promise<void> }} Cluster
 */

/**
 * Starts a cluster of one node in namespaces of its own: of the machine it uses only a folder, a port of loopback and a
 * control group. Needs root.
 * @param {{ cache: string, programs: string, tools: string, pauseImage: string, images: readonly string[], port?: number,
 *   progress: (line: string) => void }} options
 * @returns {Promise<Cluster>}
 */
export async function startCluster({ cache, progress, images, port = 0, ...rest }) {
  removeDead(cache);
  // Short, because the path of a socket is.
  const folder = mkdtempSync(path.join(cache, PREFIX));
  writeFileSync(path.join(folder, OWNER), `${process.pid}`);
  const group = groupOf(folder);
  const credentials = await makeCredentials(folder);
  const own = {
    server: 'https://127.0.0.1:6443',
    authority: credentials.authority,
    token: credentials.adminToken,
  };
  writeFileSync(path.join(folder, 'admin.conf'), kubeconfig(own), { mode: 0o600 });
  const planFile = path.join(folder, 'plan.json');
  writeFileSync(planFile, JSON.stringify({ ...rest, folder, group, images, credentials }));

  const door = createServer();
  await new Promise((resolve, reject) => {
    door.once('error', reject).listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const { port: chosen } = /** @type {import('node:net').AddressInfo} */ (door.address());
  const server = `https://127.0.0.1:${chosen}`;
  const outside = path.join(folder, 'kubeconfig');
  writeFileSync(outside, kubeconfig({ ...own, server }), { mode: 0o600 });

  const program = [process.execPath, INSIDE, planFile];
  // Out of reach of the terminal's Ctrl-C: it ends by our hand, or with us.
  const child = spawn('unshare', [...NAMESPACES, 'bash', '-c', FIRST, 'first', ...program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const discard = () => {
    child.kill('SIGKILL');
    remove(folder);
  };
  process.once('exit', discard);
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    process.off('exit', discard);
    remove(folder);
  };
  try {
    await readiness(child, door, progress);
  } catch (error) {
    await stop();
    throw error;
  }
  const orders = path.join(folder, 'orders.sock');
  return { kubeconfig: outside, folder, audit: auditLog(folder), orders, stop };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {import('node:net').Server} door
 * @param {(line: string) => void} progress
 */
function readiness(child, door, progress) {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Fault(`cannot run unshare: ${error.message}`)));
    child.once('close', (code) => reject(new Fault(`the cluster ended with ${code} before it was ready`)));
    child.on('message', (message) => {
      const { progress: line, ready, failed, ended } = /** @type {Record<string, string>} */ (message);
      if (line) progress(line);
      if (ended) progress(`${ended} ended`);
      if (failed) reject(new Fault(failed));
      if (ready) resolve(undefined);
    });
    // From here on the cluster alone listens there.
    child.send({}, door, (error) => (error === null ? door.close() : reject(error)));
  });
}

/**
 * Removes what runs left that were killed.
 * @param {string} cache
 */
function removeDead(cache) {
  mkdirSync(cache, { recursive: true });
  for (const name of readdirSync(cache).filter((each) => each.startsWith(PREFIX))) {
    const folder = path.join(cache, name);
    if (!isAlive(folder)) remove(folder);
  }
}

/** @param {string} folder */
function isAlive(folder) {
  try {
    return process.kill(Number(readFileSync(path.join(folder, OWNER), 'utf8')), 0);
  } catch {
    return false;
  }
}

/** @param {string} folder */
function remove(folder) {
  // A dying program may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  removeGroups(groupOf(folder));
}

/** @param {string} folder */
const groupOf = (folder) => `/berth-kubernetes-${path.basename(folder)}`;

/**
 * The control groups of Pods, which the kernel keeps.
 * @param {string} group
 */
function removeGroups(group) {
  for (const controller of readdirSync('/sys/fs/cgroup')) {
    const top = path.join('/sys/fs/cgroup', controller, group);
    for (const each of foldersBelow(top).toReversed()) {
      try {
        rmdirSync(each);
      } catch {
        // Its last process is still ending; an empty group costs nothing.
      }
    }
  }
}

/** @param {string} top @returns {string[]} */
function foldersBelow(top) {
  try {
    const inner = readdirSync(top, { withFileTypes: true }).filter((each) => each.isDirectory());
    return [top, ...inner.flatMap(({ name }) => foldersBelow(path.join(top, name)))];
  } catch {
    return [];
  }
}
