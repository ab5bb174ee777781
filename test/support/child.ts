import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import type { Test } from 'tap';
import { eventually } from './patience.ts';

export type Child = {
  readonly process: ChildProcess;
  /** The next line on stdout; rejects with stderr when it exits instead. */
  readonly line: () => Promise<string>;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly errors: () => string;
};

/** The specifier of our module in a child's code. */
export const moduleAt = (file: string): string => JSON.stringify(pathToFileURL(file).href);

/** Another process that runs `code` as a module; killed when `t` ends. */
export const runModule = (t: Test, code: string): Child =>
  runProcess(t, process.execPath, ['--input-type=module', '--eval', code]);

/** Another process, killed when `t` ends. */
export function runProcess(t: Test, file: string, args: readonly string[], cwd = process.cwd()): Child {
  const [program, rest] = outsideOfTap(file, args);
  const child = spawn(program, rest, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
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

/**
 * A command without the test runner's variables, which would load it into every process that a test starts. env(1)
 * becomes the program, so the process is the same.
 */
export function outsideOfTap(file: string, args: readonly string[]): [string, string[]] {
  const injected = Object.keys(process.env).filter((name) => /^_?TAP|^npm_/.test(name));
  const names = [...injected, ...INJECTED_AT_SPAWN];
  return ['/usr/bin/env', [...names.flatMap((name) => ['-u', name]), file, ...args]];
}

const INJECTED_AT_SPAWN = [
  'NODE_OPTIONS',
  ...['CWD', 'ROOT', 'PARENT', 'EXCLUDE', 'COVERAGE', 'COV_FILES', 'COV_EXCLUDE', 'COV_EXCLUDE_FILES'].map(
    (name) => `_TAPJS_PROCESSINFO_${name}_`,
  ),
];

/** Whether it runs; a zombie does not count. */
export function isThere(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Whether it ends. */
export const goes = async (pid: number): Promise<boolean> =>
  !(await eventually(
    () => isThere(pid),
    (there) => !there,
  ));
