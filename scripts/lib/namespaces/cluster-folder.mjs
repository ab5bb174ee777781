import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const PREFIX = 'c-';
const OWNER = 'owner';
const CONTROL_GROUPS = '/sys/fs/cgroup';

/**
 * All that a test cluster writes: `folder`, and the control group `group` of its containers.
 * @typedef {{ folder: string, group: string }} ClusterFolder
 */

/**
 * A new folder in `cache` for a cluster of this kind. Removes what runs left that were killed.
 * @param {string} cache
 * @param {string} kind
 * @returns {ClusterFolder}
 */
export function claimFolder(cache, kind) {
  mkdirSync(cache, { recursive: true });
  const placed = (/** @type {string} */ folder) => ({
    folder,
    group: `/berth-${kind}-${path.basename(folder)}`,
  });
  for (const name of readdirSync(cache).filter((each) => each.startsWith(PREFIX))) {
    const folder = path.join(cache, name);
    if (!isAlive(folder)) removeFolder(placed(folder));
  }
  // Short, because the path of a socket is.
  const folder = mkdtempSync(path.join(cache, PREFIX));
  writeFileSync(path.join(folder, OWNER), `${process.pid}`);
  return placed(folder);
}

/** @param {string} folder */
function isAlive(folder) {
  try {
    return process.kill(Number(readFileSync(path.join(folder, OWNER), 'utf8')), 0);
  } catch {
    return false;
  }
}

/** @param {ClusterFolder} claimed */
export function removeFolder({ folder, group }) {
  // A dying program may still write.
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  removeGroups(group);
}

/**
 * The control groups of containers, which the kernel keeps.
 * @param {string} group
 */
function removeGroups(group) {
  for (const controller of readdirSync(CONTROL_GROUPS)) {
    const top = path.join(CONTROL_GROUPS, controller, group);
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
