import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sha256OfFile } from './digest.mjs';
import { lockedPackage } from './locked-package.mjs';

export const AGENT_CONFIG = path.join('scripts', 'agent.vite.config.mjs');
const NAME = 'berth-agent';
/** The wrapper of the native modules, which chooses that of its platform. */
const WRAPPER = '@lydell/node-pty';
/** Machines that can be agents. */
const PLATFORMS = ['linux-x64', 'linux-arm64'];

/** @param {string} root */
const hasAgent = (root) => existsSync(path.join(root, 'src', 'agent', 'bin', 'agent.ts'));

/**
 * Puts the agent beside the pages, as an archive with its digest in the form of `sha256sum`. It has the native modules
 * of all platforms that can be had, this one's in any case.
 * @param {string} root
 * @param {string} pages The folder of the pages.
 * @param {(root: string, tool: string, args: string[]) => Promise<void>} runTool
 */
export async function bundleAgent(root, pages, runTool) {
  if (!hasAgent(root)) return;
  const folder = path.join(root, pages, 'agent');
  const content = path.join(folder, NAME);
  await runTool(root, 'vite', ['build', '--config', AGENT_CONFIG, '--outDir', content, '--logLevel', 'warn']);
  cpSync(modulePath(root, WRAPPER), modulePath(content, WRAPPER), { recursive: true });
  for (const platform of PLATFORMS) await addNative(root, content, platform, runTool);
  const archive = path.join(folder, `${NAME}.tar.gz`);
  await runTool(root, 'tar', ['--owner=0', '--group=0', '-czf', archive, '-C', folder, NAME]);
  rmSync(content, { recursive: true });
  const digest = sha256OfFile(archive);
  writeFileSync(`${archive}.sha256`, `${digest}  ${path.basename(archive)}\n`);
}

/**
 * @param {string} folder
 * @param {string} name
 */
const modulePath = (folder, name) => path.join(folder, 'node_modules', ...name.split('/'));

/**
 * @param {string} root
 * @param {string} content
 * @param {string} platform
 * @param {(root: string, tool: string, args: string[]) => Promise<void>} runTool
 */
async function addNative(root, content, platform, runTool) {
  const name = `${WRAPPER}-${platform}`;
  const [installed, into] = [modulePath(root, name), modulePath(content, name)];
  if (existsSync(installed)) {
    cpSync(installed, into, { recursive: true });
    return;
  }
  const archive = await lockedPackage(root, name);
  if (archive === null) {
    console.log(`The agent's archive will not work on ${platform}: the registry does not answer.`);
    return;
  }
  mkdirSync(into, { recursive: true });
  await runTool(root, 'tar', ['--strip-components=1', '--no-same-owner', '-xzf', archive, '-C', into]);
}
