import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { watched } from './command.mjs';

/**
 * Runs `work` while no other process does for the same folder. Without flock(1) it runs unlocked.
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function alone(folder, work) {
  const descriptor = openSync(folder, 'r');
  try {
    if ((await flock(descriptor, ['--nonblock'])) === 1) {
      console.log('Waiting for another installation or build in this folder …');
      await flock(descriptor, []);
    }
    return await work();
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The lock belongs to the open file, which the child shares with us while it locks it.
 * @param {number} descriptor
 * @param {readonly string[]} flags
 * @returns {Promise<number | null>}
 */
function flock(descriptor, flags) {
  return new Promise((resolve) => {
    const stdio = /** @type {const} */ (['ignore', 'ignore', 'ignore', descriptor]);
    const child = watched(() => spawn('flock', [...flags, '3'], { stdio: [...stdio], detached: true }));
    child.once('error', () => resolve(null));
    child.once('exit', (code) => resolve(code));
  });
}
