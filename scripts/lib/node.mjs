import { existsSync } from 'node:fs';
import path from 'node:path';
import { Fault } from './fault.mjs';

const WANTED_MAJOR = 22;

/**
 * The Node.js for Berth and its tools: the one among the dependencies, else the present one if new enough.
 * @param {string} root
 */
export function modernNode(root) {
  const version = process.versions.node;
  const bundled = path.join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (existsSync(bundled)) return bundled;
  if (Number.parseInt(version, 10) >= WANTED_MAJOR) return process.execPath;
  throw new Fault(
    `Berth needs Node.js ${WANTED_MAJOR} or newer, but this is ${version}. On Linux x64 and ` +
      `arm64, run \`npm ci --include=optional\` to install its own copy. Elsewhere, install Node.js ${WANTED_MAJOR}.`,
  );
}

/**
 * The environment that puts the development tools and the modern Node.js first in the path.
 * @param {string} root
 * @returns {NodeJS.ProcessEnv}
 */
export function toolEnvironment(root) {
  const first = [path.dirname(modernNode(root)), path.join(root, 'node_modules', '.bin')];
  return { ...process.env, PATH: [...first, process.env['PATH']].join(path.delimiter) };
}

/**
 * The environment without the programs in node_modules, for npm while it replaces that folder.
 * @returns {NodeJS.ProcessEnv}
 */
export function systemEnvironment() {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const kept = folders.filter((folder) => !folder.split(path.sep).includes('node_modules'));
  return { ...process.env, PATH: kept.join(path.delimiter) };
}
