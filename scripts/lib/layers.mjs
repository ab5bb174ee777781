import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { capture } from './command.mjs';
import { toolEnvironment } from './node.mjs';

/**
 * @typedef {{ from: string, to: string, rule: { name: string, severity: string }, cycle?: { name: string }[] }} Violation
 * @typedef {{ ok: boolean, report: string }} Verdict
 */

/**
 * Checks that imports point inwards. Fails if the tool read fewer files than exist: with an unsuitable TypeScript it
 * reads none and reports success.
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
export async function checkLayers(root) {
  const folders = ['src', 'web/src'].filter((folder) => existsSync(path.join(root, folder)));
  const args = [...folders, '--config', '.dependency-cruiser.mjs', '--output-type', 'json'];
  const { stdout, output } = await capture('depcruise', args, { cwd: root, env: toolEnvironment(root) });
  const result = parse(stdout);
  if (result === null) return { ok: false, report: output };
  const there = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true }).filter((file) => /\.tsx?$/.test(`${file}`)),
  );
  const read = result.modules.filter(({ source }) => /^(web\/)?src\/.*\.tsx?$/.test(source));
  if (read.length < there.length || there.length === 0) {
    return {
      ok: false,
      report: `only ${read.length} of ${there.length} files below ${folders.join(' and ')} were read`,
    };
  }
  const { violations } = result.summary;
  const report = violations.length
    ? violations.map(describe).join('\n')
    : `${read.length} files, no violation`;
  return { ok: !violations.some(({ rule }) => rule.severity === 'error'), report };
}

/**
 * @param {string} json
 * @returns {{ modules: { source: string }[], summary: { violations: Violation[] } } | null}
 */
function parse(json) {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** @param {Violation} violation */
const describe = ({ from, to, rule, cycle }) =>
  `${rule.name}: ${from} → ${cycle ? cycle.map(({ name }) => name).join(' → ') : to}`;
