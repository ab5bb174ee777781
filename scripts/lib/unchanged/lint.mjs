import { capture } from '../command.mjs';
import { toolEnvironment } from '../node.mjs';
import { recordOf } from './passed.mjs';
import { isSetting } from './tree.mjs';

/**
 * @typedef {import('../checks.mjs').Verdict} Verdict
 * @typedef {import('./tree.mjs').Tree} Tree
 */

/** With more files than this share to lint, the linter finds them faster itself. */
const MOST = 0.5;

const ONLY_LINTABLE = ['--no-errors-on-unmatched', '--files-ignore-unknown=true'];

/**
 * Lints the files that changed since they passed, or that import a changed one: a rule follows the types of imports.
 * @param {string} root
 * @param {Tree | null} tree Null lints everything.
 * @returns {Promise<Verdict>}
 */
export async function lint(root, tree) {
  if (tree === null) return await biome(root, ['.']);
  const record = recordOf(root, 'lint');
  const passed = record.read();
  // declarations of modules have an effect without an import
  const everywhere = tree.digest(tree.files.filter((file) => isSetting(file) || file.endsWith('.d.ts')));
  const present = new Map(
    tree.files.map((file) => [file, `${everywhere} ${tree.digest(tree.reachedFrom(file))}`]),
  );
  const changed = tree.files.filter((file) => passed.get(file) !== present.get(file));
  if (changed.length === 0) return { ok: true, report: '', note: 'unchanged' };
  const isMost = changed.length > tree.files.length * MOST;
  const verdict = await biome(root, isMost ? ['.'] : [...ONLY_LINTABLE, ...changed]);
  if (verdict.ok) record.write(present);
  return verdict;
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 * @returns {Promise<Verdict>}
 */
async function biome(root, args) {
  const { code, output } = await capture('biome', ['check', ...args], {
    cwd: root,
    env: toolEnvironment(root),
  });
  return { ok: code === 0, report: output };
}
