import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { watched } from './command.mjs';

/**
 * Does `work` while no other process does so for the same folder. Where flock(1) is missing, just does it.
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
 * The lock belongs to the open file, which the child shares with us for the moment that it takes to set it.
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
