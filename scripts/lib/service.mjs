import { spawn } from 'node:child_process';
import { exitCode } from './command.mjs';
import { Fault } from './fault.mjs';

// One Ctrl-C arrives twice, from the terminal and from npm. A later one is a second request.
const SAME_SIGNAL_MS = 1000;
const PARENT_CHECK_MS = 1000;

/**
 * Runs the service until it ends and resolves with its exit code. It has its own session and gets each signal from us,
 * once. When we die, the channel to it closes and it stops. A closed terminal stops it; SIGHUP alone would rotate its
 * keys.
 * @param {string} node
 * @param {readonly string[]} args
 * @param {{ cwd: string, cache: string }} folders
 * @returns {Promise<number>}
 */
export function runService(node, args, { cwd, cache }) {
  // cached compiled code makes the next start a third faster
  const env = { NODE_COMPILE_CACHE: cache, ...process.env };
  // Before the start: the service may run before our next line does.
  const stopForwarding = forwardSignals((signal) => child.kill(signal));
  const child = spawn(node, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new Fault(`cannot run ${node}: ${error.message}`)));
    child.once('exit', (code, signal) => resolve(exitCode(code, signal)));
  }).finally(stopForwarding);
}

/**
 * @param {(signal: NodeJS.Signals) => void} send
 * @param {{ signals?: NodeJS.EventEmitter, nowMs?: () => number }} world
 */
export function forwardSignals(send, { signals = process, nowMs = () => performance.now() } = {}) {
  let lastAt = Number.NEGATIVE_INFINITY;
  /** @param {NodeJS.Signals} signal */
  const forward = (signal) => {
    if (nowMs() - lastAt < SAME_SIGNAL_MS) return;
    lastAt = nowMs();
    send(signal === 'SIGHUP' ? 'SIGTERM' : signal);
  };
  for (const signal of STOP) signals.on(signal, forward);
  const watch = process.env['npm_lifecycle_event'] ? watchParent(() => forward('SIGTERM')) : undefined;
  return () => {
    for (const signal of STOP) signals.off(signal, forward);
    clearInterval(watch);
  };
}

const STOP = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * npm is our parent and may be killed without a signal to us.
 * @param {() => void} orphaned
 */
function watchParent(orphaned) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    orphaned();
  }, PARENT_CHECK_MS);
  return timer;
}
