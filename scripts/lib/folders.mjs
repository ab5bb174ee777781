import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** A longer list is not taken in at a glance. */
const MAX_FILES = 18;
const ROOTS = ['src', 'web/src', 'scripts', 'test'];

/**
 * Checks how many files each folder of sources has, those of its subfolders not included.
 * @param {string} root
 * @returns {{ ok: boolean, report: string }}
 */
export function checkFolders(root) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const name of ROOTS.filter((each) => existsSync(path.join(root, each)))) {
    for (const file of readdirSync(path.join(root, name), { recursive: true, withFileTypes: true })) {
      if (file.isFile() && !isInstalled(file.parentPath))
        counts.set(file.parentPath, (counts.get(file.parentPath) ?? 0) + 1);
    }
  }
  const large = [...counts].filter(([, files]) => files > MAX_FILES);
  const report = large.map(
    ([folder, files]) => `${path.relative(root, folder)} has ${files} files, more than ${MAX_FILES}`,
  );
  if (large.length > 0) return { ok: false, report: report.join('\n') };
  return { ok: counts.size > 0, report: `${counts.size} folders of at most ${MAX_FILES} files` };
}

/** @param {string} folder */
const isInstalled = (folder) => folder.split(path.sep).includes('node_modules');
