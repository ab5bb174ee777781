/**
 * The built service, in which something fails at the checkpoint that FAULT_AT names, or once every checkpoint in the file
 * FAULT_FILE is reached: the process whose number is in the file FAULT_VICTIM, else the service itself, gets the signal
 * FAULT_SIGNAL, once. With FAULT_SIGNAL `throw` an error is thrown there that nothing catches.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';

const { runService }: typeof import('../../../src/app/main/run.ts') = await import(
  path.resolve('dist/app/main/bin/run.js')
);
const { FAULT_AT, FAULT_FILE, FAULT_VICTIM, FAULT_SIGNAL } = process.env;

/** The points to reach, one per line: from the environment, or from a file written by the test. */
function pending(): readonly string[] {
  if (FAULT_FILE === undefined || !existsSync(FAULT_FILE)) return FAULT_AT === undefined ? [] : [FAULT_AT];
  return readFileSync(FAULT_FILE, 'utf8').split('\n');
}

/** Removes the point from the file. Returns whether it was the last one. */
function reached(name: string): boolean {
  if (FAULT_FILE === undefined) return true;
  const left = pending();
  const others = left.toSpliced(left.indexOf(name), 1);
  if (others.length === 0) renameSync(FAULT_FILE, `${FAULT_FILE}.done`);
  else writeFileSync(FAULT_FILE, others.join('\n'));
  return others.length === 0;
}

const victim = (): number =>
  FAULT_VICTIM === undefined ? process.pid : Number.parseInt(readFileSync(FAULT_VICTIM, 'utf8'), 10);

// Before a kill: compiled code is kept for the next start.
flushCompileCache();
await runService(async (name) => {
  if (!pending().includes(name)) return;
  // Nothing may happen after a point: the process stays there until all have reached theirs.
  if (!reached(name)) await new Promise(() => {});
  if (FAULT_SIGNAL === 'throw') {
    const error = new Error('a wire is loose');
    setImmediate(() => {
      throw error;
    });
    return;
  }
  process.kill(victim(), (FAULT_SIGNAL ?? 'SIGKILL') as NodeJS.Signals);
  // The signal may take a moment; nothing may happen after the point.
  if (FAULT_VICTIM === undefined) await new Promise(() => {});
});
