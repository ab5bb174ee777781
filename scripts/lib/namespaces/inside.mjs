import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { capture } from '../command.mjs';

/**
 * `env` is added to the environment of all.
 * @typedef {{ name: string, program: string, args: readonly string[], env?: NodeJS.ProcessEnv }} Daemon
 */

/** @param {unknown} message For the process that runs the first one. */
export const tell = (message) => process.send?.(message);

/**
 * Runs a program to its end, or throws its output.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
export async function must(program, args, env = process.env) {
  const { code, output } = await capture(program, args, { cwd: '/', env });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${output.trim()}`);
}

/** @param {string} name @param {() => Promise<boolean>} test */
export async function until(name, test, seconds = 120) {
  const end = Date.now() + seconds * 1000;
  while (!(await test().catch(() => false))) {
    if (Date.now() > end) throw new Error(`${name} was not ready within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * The daemons of a cluster, by name; each writes its log into `folder/logs`.
 * @param {string} folder
 * @param {NodeJS.ProcessEnv} environment
 */
export function daemonsIn(folder, environment) {
  /** @type {Map<string, import('node:child_process').ChildProcess>} */
  const running = new Map();
  const signal = (/** @type {string} */ name, /** @type {NodeJS.Signals} */ which) =>
    running.get(name)?.kill(which);
  return {
    /** @param {Daemon} daemon Does nothing while it runs. */
    start({ name, program, args, env = {} }) {
      if (running.has(name)) return;
      const log = openSync(path.join(folder, 'logs', `${name}.log`), 'a');
      // A file, not a pipe: the shims of containerd keep its output open when it is killed.
      const options = { cwd: folder, env: { ...environment, ...env } };
      const child = spawn(program, args, { ...options, stdio: ['ignore', log, log] });
      closeSync(log);
      const gone = () => {
        if (running.get(name) !== child) return;
        running.delete(name);
        tell({ ended: name });
      };
      child.once('exit', gone).once('error', gone);
      running.set(name, child);
    },
    signal,
    /** @param {string} name @param {NodeJS.Signals} [which] Resolves when it has ended. */
    async end(name, which = 'SIGKILL') {
      const child = running.get(name);
      if (child === undefined) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill(which);
      await ended;
    },
  };
}

/**
 * Takes orders such as `POST /kill/kubelet` at the socket `folder/orders.sock`, which leads out of the namespaces.
 * @param {string} folder
 * @param {(act: string, name: string) => Promise<boolean>} obey Whether there is such an order.
 */
export function takeOrders(folder, obey) {
  const server = createServer((request, response) => {
    const [act = '', name = ''] = (request.url ?? '').slice(1).split('/');
    obey(act, name).then(
      (isDone) => response.writeHead(isDone ? 204 : 404).end(),
      (error) => response.writeHead(500).end(`${error}`),
    );
  });
  server.listen(path.join(folder, 'orders.sock'));
}

/**
 * Starts a cluster and says when it is ready. It ends with its caller.
 * @param {() => Promise<void>} start
 */
export function beFirst(start) {
  // The caller is gone.
  process.on('disconnect', () => process.exit());
  tell({ running: true });
  start().then(
    () => tell({ ready: true }),
    (error) => tell({ failed: error instanceof Error ? error.message : `${error}` }),
  );
}
