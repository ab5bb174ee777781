import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/**
 * Runs a program to its end, keeping what it prints. Never rejects for its exit code.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string, stdout: string }>}
 */
export function capture(file, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const all = /** @type {Buffer[]} */ ([]);
    const out = /** @type {Buffer[]} */ ([]);
    child.stdout.on('data', (chunk) => all.push(chunk) && out.push(chunk));
    child.stderr.on('data', (chunk) => all.push(chunk));
    watch(child);
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve({ code: exitCode(code, signal), output: text(all), stdout: text(out) }),
    );
  });
}

/**
 * The number that a shell would show.
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
export const exitCode = (code, signal) => code ?? 128 + (signal ? constants.signals[signal] : 0);

/** @param {readonly Buffer[]} chunks */
const text = (chunks) => Buffer.concat(chunks).toString();

/**
 * Makes a stop that we get while the child runs end the child, and then us.
 * @param {import("node:child_process").ChildProcess} child
 */
export function watch(child) {
  if (running.size === 0) for (const signal of STOP) process.on(signal, stopAll);
  running.add(child);
  const done = () => {
    running.delete(child);
    if (running.size === 0) for (const signal of STOP) process.off(signal, stopAll);
  };
  child.once('close', done).once('error', done);
}

const STOP = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * A stop that comes while something is being prepared ends that and us.
 * @param {NodeJS.Signals} signal
 */
function stopAll(signal) {
  let left = running.size;
  const leave = () => process.exit(exitCode(null, signal));
  for (const child of running) {
    child.once('close', () => {
      left -= 1;
      if (left === 0) leave();
    });
    child.kill(signal);
  }
  setTimeout(leave, 5000).unref();
}
