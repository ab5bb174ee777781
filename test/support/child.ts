import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';

export type Child = {
  readonly process: ChildProcess;
  /** Its next line on stdout; rejects with what it said on stderr when it ends instead. */
  readonly line: () => Promise<string>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly errors: () => string;
};

/** The specifier by which a child's code imports one of our modules. */
export const moduleAt = (file: string): string => JSON.stringify(pathToFileURL(file).href);

/** Another process that runs `code` as a module. It is killed when `t` ends. */
export const runModule = (t: Test, code: string): Child =>
  runProcess(t, process.execPath, ['--input-type=module', '--eval', code]);

/** Another process. It is killed when `t` ends. */
export function runProcess(t: Test, file: string, args: readonly string[], cwd = process.cwd()): Child {
  const child = spawn(file, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
  t.teardown(() => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => (code ?? signal) as number | NodeJS.Signals | null,
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { value, done } = await lines.next();
    if (!done) return value;
    throw new Error(`ended with ${await ended}: ${errors}`);
  };
  return { process: child, line, ended, errors: () => errors };
}

/** Without what the test runner adds: a program under test must not find itself inside another run. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^_?TAP|^NODE_OPTIONS$|^npm_/.test(name));
  return Object.fromEntries(own);
}
