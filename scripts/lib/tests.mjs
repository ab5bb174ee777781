import { spawn } from 'node:child_process';
import path from 'node:path';
import { exitCode, watch } from './command.mjs';
import { toolEnvironment } from './node.mjs';
import { tallying } from './tally.mjs';

/**
 * Runs tap over the files of a configuration, one line a file, and what failed in full. The code is tap's own, and
 * 1 when nothing ran.
 * @param {string} root
 * @param {{ args?: readonly string[], config?: string, env?: NodeJS.ProcessEnv, print: (line: string) => void }} options
 * @returns {Promise<{ code: number, tally: import('./tally.mjs').Tally }>}
 */
export function runTests(root, { args = [], config = '.taprc', env = {}, print }) {
  const tap = path.join(root, 'node_modules', '.bin', 'tap');
  const child = spawn(tap, ['--reporter=tap', ...args], {
    cwd: root,
    env: { ...toolEnvironment(root), TAP_RCFILE: config, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  watch(child);
  const { parser, tally } = tallying((file) => print(fileReport(file)));
  child.stdout.pipe(parser);
  child.stderr.on('data', (chunk) => print(`${chunk}`.trimEnd()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const ran = tally.passed + tally.failed > 0;
      resolve({ code: exitCode(code, signal) || (ran ? 0 : 1), tally });
    });
  });
}

/** @param {import('./tally.mjs').FileResult} file */
function fileReport({ name, ok, ms, skip, failures }) {
  const verdict = skip !== null ? 'skip' : ok ? 'ok  ' : 'FAIL';
  const head = `${verdict} ${name} ${skip ?? `${(ms / 1000).toFixed(1)} s`}`;
  return [head, ...failures.map((failure) => indent(`✗ ${failure.path}\n${indent(failure.detail)}`))].join(
    '\n',
  );
}

/** @param {string} text */
const indent = (text) => text.replace(/^/gm, '  ');
