import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Fault } from '../fault.mjs';
import { removeFolder } from './cluster-folder.mjs';

/**
 * A first process that waits for orphans too. It starts the cluster and ends with it. Its copies of the mounts of
 * installations on this machine would keep their disk images in use.
 */
const FIRST = `
for mounted in $(cut -d' ' -f5 /proc/self/mountinfo | grep '^/run/berth-' | sort -r); do
  umount --lazy "$mounted"
done
"$@"; exit $?`;
const NAMESPACES = ['--mount', '--net', '--pid', '--ipc', '--uts', '--mount-proc', '--fork', '--kill-child'];

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/**
 * Runs `script` with the plan's file as the first process of namespaces of its own, until it is ready, or throws. `begin`
 * is called with its process once it runs. Returns what ends everything and removes it. Needs root.
 * @param {string} script
 * @param {import('./cluster-folder.mjs').ClusterFolder} plan
 * @param {{ progress: (line: string) => void, begin: (child: ChildProcess) => Promise<void> }} hooks
 * @returns {Promise<() => Promise<void>>}
 */
export async function runFirstProcess(script, plan, { progress, begin }) {
  const planFile = path.join(plan.folder, 'plan.json');
  writeFileSync(planFile, JSON.stringify(plan), { mode: 0o600 });
  const program = [process.execPath, script, planFile];
  // Out of reach of the terminal's Ctrl-C: it ends by our hand, or with us.
  const child = spawn('unshare', [...NAMESPACES, 'bash', '-c', FIRST, 'first', ...program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const discard = () => {
    child.kill('SIGKILL');
    removeFolder(plan);
  };
  process.once('exit', discard);
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
    process.off('exit', discard);
    removeFolder(plan);
  };
  try {
    await readiness(child, progress, begin);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

/**
 * @param {ChildProcess} child
 * @param {(line: string) => void} progress
 * @param {(child: ChildProcess) => Promise<void>} begin
 */
function readiness(child, progress, begin) {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Fault(`cannot run unshare: ${error.message}`)));
    child.once('close', (code) => reject(new Fault(`the cluster ended with ${code} before it was ready`)));
    child.on('message', (message) => {
      const {
        running,
        progress: line,
        ready,
        failed,
        ended,
      } = /** @type {Record<string, string>} */ (message);
      if (running) begin(child).catch(reject);
      if (line) progress(line);
      if (ended) progress(`${ended} ended`);
      if (failed) reject(new Fault(failed));
      if (ready) resolve(undefined);
    });
  });
}
