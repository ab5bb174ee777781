import { DOCUMENT } from './api-types.mjs';
import { capture } from './command.mjs';
import { toolEnvironment } from './node.mjs';

/** @typedef {import('./checks.mjs').Verdict} Verdict */

/**
 * The API document that `writeApiTypes` wrote has no error and no warning in two linters with their recommended rules.
 * @param {string} root
 * @returns {Promise<Verdict>}
 */
export async function checkApiDocument(root) {
  const verdicts = await Promise.all([spectral(root), redocly(root)]);
  const failed = verdicts.filter(({ ok }) => !ok);
  return { ok: failed.length === 0, report: failed.map(({ report }) => report).join('\n') };
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
  const args = ['lint', '--extends=recommended', '--format=json', DOCUMENT];
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
