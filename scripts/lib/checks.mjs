import { existsSync } from 'node:fs';
import path from 'node:path';
import { checkApiDocument } from './api-document.mjs';
import { writeApiTypes } from './api-types.mjs';
import { capture } from './command.mjs';
import { checkFolders } from './folders.mjs';
import { checkLayers } from './layers.mjs';
import { toolEnvironment } from './node.mjs';
import { checkPorts } from './ports.mjs';

/**
 * @typedef {{ ok: boolean, report: string }} Verdict
 * @typedef {{ label: string, run: () => Promise<Verdict> }} Check
 */

/**
 * The checks that run no code.
 * @param {string} root
 * @returns {Check[]}
 */
export function staticChecks(root) {
  const web = existsSync(path.join(root, 'web', 'tsconfig.json'));
  /** @type {Promise<void> | null} */
  let written = null;
  /** @param {() => Promise<Verdict>} run */
  const withApiTypes = (run) => async () => {
    written ??= writeApiTypes(root);
    await written;
    return await run();
  };
  return [
    { label: 'types', run: withApiTypes(() => types(root, 'tsconfig.json', 'types')) },
    ...(web
      ? [
          {
            label: 'types of the pages',
            run: withApiTypes(() => types(root, 'web/tsconfig.json', 'web-types')),
          },
        ]
      : []),
    {
      label: 'types of Node.js 20',
      run: withApiTypes(() => types(root, 'tsconfig.node20.json', 'node20-types')),
    },
    { label: 'lint', run: () => tool(root, 'biome', ['check', '.']) },
    { label: 'layers', run: withApiTypes(() => checkLayers(root)) },
    { label: 'ports', run: () => checkPorts(root) },
    { label: 'folders', run: async () => checkFolders(root) },
    { label: 'API document', run: withApiTypes(() => checkApiDocument(root)) },
    { label: 'dead code', run: withApiTypes(() => tool(root, 'knip', [])) },
  ];
}

/**
 * Runs all checks at once, prints a line per check and the report of each failure. Returns the number of failures.
 * @param {readonly Check[]} checks
 */
export async function runChecks(checks) {
  const results = await Promise.all(checks.map(runCheck));
  return results.filter((ok) => !ok).length;
}

/** @param {Check} check */
async function runCheck({ label, run }) {
  const startedAt = performance.now();
  const { ok, report } = await run();
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${label} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  if (!ok) console.log(report.trimEnd());
  return ok;
}

/** The other checks use the other processors, and each further checker repeats much of the work. */
const ONE_CHECKER = ['--checkers', '1'];

/**
 * Checks only files changed since the last run, and their dependents.
 * @param {string} root
 * @param {string} project
 * @param {string} name
 */
const types = (root, project, name) =>
  tool(root, 'tsc', [
    '-p',
    project,
    ...ONE_CHECKER,
    '--incremental',
    '--tsBuildInfoFile',
    `.tap/${name}.tsbuildinfo`,
  ]);

/**
 * @param {string} root
 * @param {string} file
 * @param {readonly string[]} args
 * @returns {Promise<Verdict>}
 */
async function tool(root, file, args) {
  const { code, output } = await capture(file, args, { cwd: root, env: toolEnvironment(root) });
  return { ok: code === 0, report: output };
}
