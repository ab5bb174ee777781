import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DOCUMENT } from './api-types.mjs';
import { capture } from './command.mjs';
import { toolEnvironment } from './node.mjs';

/** @typedef {import('./checks.mjs').Verdict} Verdict */

/** What a document without a fault was checked by: another document, version or rule is checked again. */
const INPUTS = [DOCUMENT, 'package-lock.json', '.spectral.yaml', 'scripts/lib/api-document.mjs'];
const WITHOUT_FAULT = path.join('.tap', 'openapi-without-fault');

/**
 * The API document that `writeApiTypes` wrote has no error and no warning in two linters with their recommended rules.
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
export async function checkApiDocument(root) {
  const inputs = digestOf(root, INPUTS);
  const record = path.join(root, WITHOUT_FAULT);
  if (existsSync(record) && readFileSync(record, 'utf8') === inputs) return { ok: true, report: '' };
  const verdicts = await Promise.all([spectral(root), redocly(root)]);
  const failed = verdicts.filter(({ ok }) => !ok);
  if (failed.length === 0) writeFileSync(record, inputs);
  return { ok: failed.length === 0, report: failed.map(({ report }) => report).join('\n') };
}

/**
 * @param {string} root
 * @param {readonly string[]} names
 */
function digestOf(root, names) {
  const hash = createHash('sha256');
  for (const name of names) hash.update(`${name}\n`).update(readFileSync(path.join(root, name)));
  return hash.digest('hex');
}

/**
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
async function spectral(root) {
  const { code, output } = await linter(root, 'spectral', ['lint', '--fail-severity=hint', DOCUMENT]);
  return { ok: code === 0, report: output };
}

/**
 * Its exit code does not tell of warnings.
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
async function redocly(root) {
  // Spectral has this rule, too, and there a redirect counts as success.
  const skipped = '--skip-rule=operation-2xx-response';
  const args = ['lint', '--extends=recommended', skipped, '--format=json', DOCUMENT];
  const { output, stdout } = await linter(root, 'redocly', args);
  return { ok: /"totals": \{\s+"errors": 0,\s+"warnings": 0,/.test(stdout), report: output };
}

/**
 * @param {string} root
 * @param {string} file
 * @param {readonly string[]} args
 */
const linter = (root, file, args) =>
  capture(file, args, {
    cwd: root,
    // no request leaves this machine
    env: { ...toolEnvironment(root), REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  });
