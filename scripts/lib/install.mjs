import { existsSync, lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { capture } from './command.mjs';
import { sha256OfFile } from './digest.mjs';
import { Fault } from './fault.mjs';
import { keepModules, linkModules } from './installed-modules.mjs';
import { alone } from './lock.mjs';
import { systemEnvironment } from './node.mjs';
import { step } from './progress.mjs';

const STAMP = '.berth-install.json';

/**
 * Installs the locked dependencies unless they are present; with `dev` also those for building and testing. `cache` is a
 * folder with those of earlier checkouts.
 * @param {string} root
 * @param {{ dev: boolean, cache?: string }} needs
 */
export async function ensureDependencies(root, needs) {
  if (dependenciesAreFresh(root, needs)) return;
  refuseToReplaceLink(root);
  await alone(root, async () => {
    if (dependenciesAreFresh(root, needs)) return;
    await step('Installing dependencies', () => install(root, needs.cache));
  });
}

/**
 * True when node_modules matches package-lock.json on this platform.
 * @param {string} root
 * @param {{ dev: boolean }} needs
 */
export function dependenciesAreFresh(root, needs) {
  const installed = path.join(root, 'node_modules', '.package-lock.json');
  // npm writes this file last, so an interrupted installation has none
  if (!existsSync(installed)) return false;
  const now = stampOf(root);
  const stamp = readStamp(root);
  if (stamp === null) return satisfies(root, needs);
  if (stamp.platform !== now.platform) return false;
  return (stamp.lock === now.lock && stamp.installed === now.installed) || satisfies(root, needs);
}

/**
 * @param {string} root
 * @param {string} [cache]
 */
async function install(root, cache) {
  if (cache === undefined || !(await linkModules(root, cache))) {
    await installFromRegistry(root);
    if (cache !== undefined) await keepModules(root, cache);
  }
  writeFileSync(path.join(root, 'node_modules', STAMP), `${JSON.stringify(stampOf(root))}\n`);
}

/** @param {string} root */
async function installFromRegistry(root) {
  // What npm has in its cache needs no network. A stale cache may not know a new version.
  const offline = await npmCi(root, ['--prefer-offline']);
  const result = /ETARGET/.test(offline.output) ? await npmCi(root, []) : offline;
  if (result.code !== 0) throw new Fault(`${result.output}\nnpm ci failed with exit code ${result.code}`);
}

/**
 * @param {string} root
 * @param {readonly string[]} options
 */
function npmCi(root, options) {
  // NODE_ENV=production would omit the build tools, and `npm run --silent` the reason of a failure.
  const args = ['ci', '--loglevel=warn', '--no-audit', '--no-fund', '--include=dev', '--include=optional'];
  return capture('npm', [...args, ...options], { cwd: root, env: systemEnvironment() }).catch((error) => {
    throw new Fault(`cannot run npm: ${error.message}`);
  });
}

/** @param {string} root */
function refuseToReplaceLink(root) {
  const folder = path.join(root, 'node_modules');
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const target = existsSync(folder) ? realpathSync(folder) : 'a missing folder';
  throw new Fault(
    `node_modules is a link to ${target} and does not match package-lock.json: run npm ci there first`,
  );
}

/**
 * @typedef {{ lock: string, installed: string, platform: string }} Stamp
 * @param {string} root
 * @returns {Stamp}
 */
function stampOf(root) {
  return {
    lock: sha256OfFile(path.join(root, 'package-lock.json')),
    installed: sha256OfFile(path.join(root, 'node_modules', '.package-lock.json')),
    platform: `${process.platform}-${process.arch}`,
  };
}

/**
 * @param {string} root
 * @returns {Stamp | null}
 */
function readStamp(root) {
  try {
    return JSON.parse(readFileSync(path.join(root, 'node_modules', STAMP), 'utf8'));
  } catch {
    return null;
  }
}

/**
 * Compares package by package, for a manual installation. Optional packages may be missing: they are for other
 * platforms.
 * @param {string} root
 * @param {{ dev: boolean }} needs
 */
function satisfies(root, needs) {
  const wanted = packagesIn(path.join(root, 'package-lock.json'));
  const there = packagesIn(path.join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted).every(([folder, entry]) => {
    if (folder === '' || (entry.dev && !needs.dev)) return true;
    const found = there[folder];
    if (found) return found.version === entry.version && found.integrity === entry.integrity;
    return entry.optional === true || entry.devOptional === true || entry.peer === true;
  });
}

/**
 * @param {string} file
 * @returns {Record<string, { version?: string, integrity?: string, dev?: boolean, optional?: boolean,
 *   devOptional?: boolean, peer?: boolean }>}
 */
const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages ?? {};
