import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();

/**
 * Runs a program to its end and keeps its output. No exit code rejects.
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string, stdout: string }>}
 */
export function capture(file, args, options) {
  return new Promise((resolve, reject) => {
    // a process group of its own, so a stop reaches the children too
    const child = watched(() =>
      spawn(file, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
    );
    child.once('error', reject);
    if (!child.stdout || !child.stderr) return;
    const all = /** @type {Buffer[]} */ ([]);
    const out = /** @type {Buffer[]} */ ([]);
    child.stdout.on('data', (chunk) => all.push(chunk) && out.push(chunk));
    child.stderr.on('data', (chunk) => all.push(chunk));
    child.once('close', (code, signal) =>
      resolve({ code: exitCode(code, signal), output: text(all), stdout: text(out) }),
    );
  });
}

/**
 * The exit code as a shell reports it.
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
export const exitCode = (code, signal) => code ?? 128 + (signal ? constants.signals[signal] : 0);

/** @param {readonly Buffer[]} chunks */
const text = (chunks) => Buffer.concat(chunks).toString();

/**
 * Starts a child. A stop signal during its run ends the child, then this process.
 * @template {import('node:child_process').ChildProcess} Child
 * @param {() => Child} start
 * @returns {Child}
 */
export function watched(start) {
  // Before the start: the child may run before our next line does.
  if (running.size === 0) for (const signal of STOP) process.on(signal, stopAll);
  const child = start();
  running.add(child);
  const done = () => {
    running.delete(child);
    if (running.size === 0) for (const signal of STOP) process.off(signal, stopAll);
  };
  child.once('close', done).once('error', done);
  return child;
}

const STOP = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

const KILL_AFTER_MS = 5000;

/**
 * A stop during startup ends the children and then this process. After the grace period they are killed.
 * @param {NodeJS.Signals} signal
 */
function stopAll(signal) {
  let left = running.size;
  const leave = () => process.exit(exitCode(null, signal));
  const kill = () => {
    for (const child of running) killGroup(child, 'SIGKILL');
    leave();
  };
  for (const child of running) {
    child.once('close', () => {
      killGroup(child, 'SIGKILL');
      left -= 1;
      if (left === 0) leave();
    });
    killGroup(child, signal);
  }
  setTimeout(kill, KILL_AFTER_MS).unref();
}

/**
 * Signals the program, or its whole process group if it leads one.
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
export function killGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    child.kill(signal);
  }
}
