import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { capture } from './command.mjs';
import { Fault } from './fault.mjs';
import { systemEnvironment } from './node.mjs';

const CACHE = path.join('node_modules', '.cache', 'berth');
/** A build does not wait longer for a registry that does not answer. */
const PATIENCE = ['--fetch-retries=0', '--fetch-timeout=15000'];

/**
 * The archive of a package in package-lock.json that npm does not install on this platform, with exactly the locked
 * content; nothing of it is run. It is downloaded once. null when the registry cannot be reached.
 * @param {string} root
 * @param {string} name
 * @returns {Promise<string | null>}
 */
export async function lockedPackage(root, name) {
  const { version, integrity } = lockOf(root, name);
  const folder = path.join(root, CACHE);
  const file = path.join(folder, `${name.replaceAll(/[@/]/g, '-').slice(1)}-${version}.tgz`);
  if (digestOf(file) === integrity) return file;
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(path.join(folder, 'draft-'));
  try {
    const args = ['pack', `${name}@${version}`, '--ignore-scripts', '--prefer-offline', ...PATIENCE];
    const done = await capture('npm', args, { cwd: draft, env: systemEnvironment() }).catch(() => null);
    const [packed] = readdirSync(draft);
    if (done?.code !== 0 || packed === undefined) return null;
    if (digestOf(path.join(draft, packed)) !== integrity)
      throw new Fault(`${name} ${version} is not what package-lock.json names: its digest differs`);
    renameSync(path.join(draft, packed), file);
    return file;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * @param {string} root
 * @param {string} name
 * @returns {{ version: string, integrity: string }}
 */
function lockOf(root, name) {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  const found = packages[`node_modules/${name}`];
  if (found === undefined) throw new Fault(`${name} is not in package-lock.json`);
  return found;
}

/**
 * In the form of package-lock.json; null without a file.
 * @param {string} file
 */
function digestOf(file) {
  try {
    return `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  } catch {
    return null;
  }
}
