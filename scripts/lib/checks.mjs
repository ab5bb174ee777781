import { existsSync } from 'node:fs';
import path from 'node:path';
import { checkApiDocument } from './api-document.mjs';
import { writeApiTypes } from './api-types.mjs';
import { capture } from './command.mjs';
import { checkFolders } from './folders.mjs';
import { checkLayers } from './layers.mjs';
import { toolEnvironment } from './node.mjs';
import { checkPorts } from './ports.mjs';
import { lint } from './unchanged/lint.mjs';
import { unlessPassed } from './unchanged/passed.mjs';
import { isSetting, readTree } from './unchanged/tree.mjs';

/**
 * @typedef {{ ok: boolean, report: string, note?: string }} Verdict The report matters after a failure.
 * @typedef {{ label: string, run: () => Promise<Verdict> }} Check
 * @typedef {import('./unchanged/tree.mjs').Tree} Tree
 */

/**
 * The checks that run no code. One that passed does not run again until its files change.
 * @param {string} root
 * @returns {Check[]}
 */
export function staticChecks(root) {
  const web = existsSync(path.join(root, 'web', 'tsconfig.json'));
  const tree = once(() => readTree(root));
  const apiTypes = once(async () => await writeApiTypes(root, await tree()));
  /**
   * @param {string} label
   * @param {readonly string[]} folders The check reads these and the settings.
   * @param {() => Promise<Verdict>} run
   * @returns {Check}
   */
  const check = (label, folders, run) => ({
    label,
    run: async () => await unlessPassed(root, label, inputsOf(await tree(), folders), run),
  });
  /** @param {() => Promise<Verdict>} run */
  const withApiTypes = (run) => async () => {
    await apiTypes();
    return await run();
  };
  /** @type {(project: string, name: string) => () => Promise<Verdict>} */
  const typesOf = (project, name) => withApiTypes(() => types(root, project, name));
  return [
    check('types', ['src', 'test', 'scripts'], typesOf('tsconfig.json', 'types')),
    ...(web ? [check('types of the pages', ['src', 'web'], typesOf('web/tsconfig.json', 'web-types'))] : []),
    check('types of Node.js 20', ['src'], typesOf('tsconfig.node20.json', 'node20-types')),
    { label: 'lint', run: async () => await lint(root, await tree()) },
    check(
      'layers',
      ['src', 'web', 'scripts/lib'],
      withApiTypes(() => checkLayers(root)),
    ),
    check('ports', ['src/ports', 'scripts/lib'], () => checkPorts(root)),
    { label: 'folders', run: async () => checkFolders(root) },
    { label: 'API document', run: withApiTypes(() => checkApiDocument(root)) },
    check(
      'dead code',
      ['src', 'web', 'test', 'scripts'],
      withApiTypes(() => tool(root, 'knip', [])),
    ),
  ];
}

/**
 * @template T
 * @param {() => Promise<T>} make
 */
function once(make) {
  /** @type {Promise<T> | null} */
  let made = null;
  return () => {
    made ??= make();
    return made;
  };
}

/**
 * @param {Tree | null} tree
 * @param {readonly string[]} folders
 */
const inputsOf = (tree, folders) =>
  tree?.digest(
    tree.files.filter((file) => isSetting(file) || folders.some((folder) => file.startsWith(`${folder}/`))),
  ) ?? null;

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
  const { ok, report, note } = await run();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log([`${ok ? 'ok  ' : 'FAIL'} ${label} ${seconds} s`, ...(note ? [note] : [])].join(', '));
  if (!ok) console.log(report.trimEnd());
  return ok;
}

/** The other checks use the other processors, and each further checker repeats much of the work. */
const ONE_CHECKER = ['--checkers', '1'];

/** A check is over before collecting its garbage would pay: a third of the time of the compiler went there. */
const NO_COLLECTION = { GOGC: 'off', GOMEMLIMIT: '2GiB' };

/**
 * Checks only files changed since the last run, and their dependents.
 * @param {string} root
 * @param {string} project
 * @param {string} name
 */
const types = (root, project, name) =>
  tool(
    root,
    'tsc',
    ['-p', project, ...ONE_CHECKER, '--incremental', '--tsBuildInfoFile', `.tap/${name}.tsbuildinfo`],
    NO_COLLECTION,
  );

/**
 * @param {string} root
 * @param {string} file
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [more]
 * @returns {Promise<Verdict>}
 */
async function tool(root, file, args, more) {
  const env = { ...toolEnvironment(root), ...more };
  const { code, output } = await capture(file, args, { cwd: root, env });
  return { ok: code === 0, report: output };
}
