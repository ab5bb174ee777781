import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AGENT_CONFIG, bundleAgent } from './agent-bundle.mjs';
import { writeApiTypes } from './api-types.mjs';
import { capture } from './command.mjs';
import { sha256OfFile } from './digest.mjs';
import { Fault } from './fault.mjs';
import { alone } from './lock.mjs';
import { toolEnvironment } from './node.mjs';
import { step } from './progress.mjs';

export const SERVER = path.join('dist', 'app', 'main', 'bin', 'server.js');
/** The command `berth` as one file, served with the pages. */
export const CLI = path.join('web', 'dist', 'cli', 'berth.mjs');
const STAMP = path.join('dist', '.stamp');
const DRAFT = '.dist-new';
const CLI_CONFIG = path.join('scripts', 'cli.vite.config.mjs');
const SERVICE_CONFIG = path.join('scripts', 'service.vite.config.mjs');
const SOURCES = [
  'src',
  'web',
  CLI_CONFIG,
  SERVICE_CONFIG,
  AGENT_CONFIG,
  'scripts/one-file.vite.mjs',
  'scripts/lib/agent-bundle.mjs',
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
];
/** Names the files of the help, which the pages' build reads. */
const HELP = 'web/help/pages.json';
const NOT_SOURCES = new Set(['dist', 'generated', 'node_modules', DRAFT]);

/**
 * Builds the service and its pages unless the present build is up to date. Types that were checked already are not
 * checked again.
 * @param {string} root
 * @param {{ typesAreChecked?: boolean }} [known]
 */
export async function ensureBuild(root, { typesAreChecked = false } = {}) {
  if (buildIsFresh(root)) return;
  const half = typesAreChecked ? { ...service, args: [...service.args, '--noCheck'] } : service;
  await alone(root, async () => {
    if (!buildIsFresh(root)) await build(root, half);
  });
}

/**
 * True when dist and web/dist match the sources, or there are no sources.
 * @param {string} root
 */
export function buildIsFresh(root) {
  if (!existsSync(path.join(root, SERVER))) return false;
  if (!existsSync(path.join(root, 'src'))) return true;
  if (hasPages(root) && !existsSync(path.join(root, 'web', 'dist', 'index.html'))) return false;
  if (hasPages(root) && hasCli(root) && !existsSync(path.join(root, CLI))) return false;
  const stamp = path.join(root, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(root);
}

/**
 * A digest of every file that the build reads.
 * @param {string} root
 */
export function fingerprint(root) {
  const hash = createHash('sha256');
  for (const file of [...SOURCES, ...helpSources(root)].flatMap((source) => filesBelow(root, source))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @returns {string[]}
 */
function helpSources(root) {
  const list = path.join(root, HELP);
  if (!existsSync(list)) return [];
  const { folder, guides, reference, commands } = JSON.parse(readFileSync(list, 'utf8'));
  const pages = [...guides, ...reference].map((name) => `${folder}/${name}.md`);
  return [...pages, `${folder}/${commands}`, `${folder}/images`];
}

/**
 * The files below a file or folder, in an order that does not depend on the file system.
 * @param {string} root
 * @param {string} name
 * @returns {string[]}
 */
function filesBelow(root, name) {
  const found = statSync(path.join(root, name), { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found ? [name] : [];
  const children = readdirSync(path.join(root, name)).filter((child) => !NOT_SOURCES.has(child));
  return children.sort().flatMap((child) => filesBelow(root, path.join(name, child)));
}

/**
 * Builds both halves beside the old ones, which stay in use until both are complete.
 * @param {string} root
 * @param {Half} service
 */
async function build(root, service) {
  // taken first, so a file saved during the build makes the next start build again
  const stamp = fingerprint(root);
  const halves = hasPages(root) ? [service, pages] : [service];
  try {
    await step('Building', async () => {
      await writeApiTypes(root);
      await allOf(halves.map((half) => run(root, half)));
    });
    writeFileSync(path.join(root, service.draft, '.stamp'), stamp);
    // the service last: it has the stamp
    for (const half of halves.toReversed())
      replace(path.join(root, half.result), path.join(root, half.draft));
  } finally {
    for (const half of halves) rmSync(path.join(root, half.draft), { recursive: true, force: true });
  }
}

/**
 * @typedef {{ result: string, draft: string, tool: string, args: string[], after?: (root: string) => Promise<void> }} Half
 */

const service = {
  result: 'dist',
  draft: DRAFT,
  tool: 'tsc',
  args: ['-p', 'tsconfig.build.json', '--outDir', DRAFT],
  after: bundleService,
};

const pages = {
  result: path.join('web', 'dist'),
  draft: path.join('web', DRAFT),
  tool: 'vite',
  args: ['build', 'web', '--outDir', DRAFT, '--emptyOutDir', '--logLevel', 'warn'],
  after: bundlePrograms,
};

/**
 * Replaces the entry points by the same with their modules in few files.
 * @param {string} root
 */
async function bundleService(root) {
  if (!existsSync(path.join(root, 'src', 'app', 'main', 'run.ts'))) return;
  const folder = path.join(root, service.draft, path.relative('dist', path.dirname(SERVER)));
  await runTool(root, 'vite', [
    'build',
    '--config',
    SERVICE_CONFIG,
    '--outDir',
    folder,
    '--logLevel',
    'warn',
  ]);
}

/**
 * Puts the programs for other machines beside the pages.
 * @param {string} root
 */
async function bundlePrograms(root) {
  await bundleCli(root);
  await bundleAgent(root, pages.draft, runTool);
}

/**
 * Puts the command beside the pages, with its digest in the form of `sha256sum`.
 * @param {string} root
 */
async function bundleCli(root) {
  if (!hasCli(root)) return;
  const folder = path.join(root, pages.draft, 'cli');
  await runTool(root, 'vite', ['build', '--config', CLI_CONFIG, '--outDir', folder, '--logLevel', 'warn']);
  const file = path.join(folder, path.basename(CLI));
  const digest = sha256OfFile(file);
  writeFileSync(`${file}.sha256`, `${digest}  ${path.basename(CLI)}\n`);
}

/**
 * Waits for all, even if one fails, so that nothing still writes during the clean-up.
 * @param {Promise<void>[]} work
 */
async function allOf(work) {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** @param {string} root */
const hasCli = (root) => existsSync(path.join(root, 'src', 'cli', 'berth.ts'));

/** @param {string} root */
const hasPages = (root) => existsSync(path.join(root, 'web', 'index.html'));

/**
 * @param {string} root
 * @param {Half} half
 */
async function run(root, { tool, args, draft, after }) {
  rmSync(path.join(root, draft), { recursive: true, force: true });
  await runTool(root, tool, args);
  await after?.(root);
}

/**
 * @param {string} root
 * @param {string} tool
 * @param {string[]} args
 */
async function runTool(root, tool, args) {
  const { code, output } = await capture(tool, args, { cwd: root, env: toolEnvironment(root) });
  if (code !== 0) throw new Fault(`${output}\nBuilding failed: ${tool} ended with exit code ${code}`);
}

/**
 * @param {string} folder
 * @param {string} draft
 */
function replace(folder, draft) {
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
}
