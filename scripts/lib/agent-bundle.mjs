import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const AGENT_CONFIG = path.join('scripts', 'agent.vite.config.mjs');
const NAME = 'berth-agent';
/** The native module of this platform, and its wrapper. */
const NATIVE = path.join('node_modules', '@lydell');

/** @param {string} root */
const hasAgent = (root) => existsSync(path.join(root, 'src', 'agent', 'bin', 'agent.ts'));

/**
 * Puts the agent for machines of this platform beside the pages, as an archive with its digest in the form of
 * `sha256sum`.
 * @param {string} root
 * @param {string} pages The folder of the pages.
 * @param {(root: string, tool: string, args: string[]) => Promise<void>} runTool
 */
export async function bundleAgent(root, pages, runTool) {
  if (!hasAgent(root)) return;
  const folder = path.join(root, pages, 'agent');
  const content = path.join(folder, NAME);
  await runTool(root, 'vite', ['build', '--config', AGENT_CONFIG, '--outDir', content, '--logLevel', 'warn']);
  for (const name of readdirSync(path.join(root, NATIVE)))
    cpSync(path.join(root, NATIVE, name), path.join(content, NATIVE, name), { recursive: true });
  const archive = path.join(folder, `${NAME}.tar.gz`);
  await runTool(root, 'tar', ['--owner=0', '--group=0', '-czf', archive, '-C', folder, NAME]);
  rmSync(content, { recursive: true });
  const digest = createHash('sha256').update(readFileSync(archive)).digest('hex');
  writeFileSync(`${archive}.sha256`, `${digest}  ${path.basename(archive)}\n`);
}
