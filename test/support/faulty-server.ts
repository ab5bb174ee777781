/**
 * The service, built from source, in which something fails at the checkpoint that FAULT_AT names: the process whose number
 * is in the file FAULT_VICTIM, else the service itself, gets the signal FAULT_SIGNAL, once. With FAULT_SIGNAL `throw` or
 * `reject` a fault is made there that nothing catches.
 */
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { readConfig } from '../../src/app/main/config.ts';
import { startService } from '../../src/app/main/start.ts';

const settings = readConfig(process.env);
if ('faults' in settings) throw new Error(settings.faults.join('; '));
const { FAULT_AT, FAULT_FILE, FAULT_VICTIM, FAULT_SIGNAL } = process.env;

/** The point is in the environment, or in a file that a test writes anew for each. */
const isPoint = (name: string): boolean =>
  name === FAULT_AT ||
  (FAULT_FILE !== undefined && existsSync(FAULT_FILE) && readFileSync(FAULT_FILE, 'utf8') === name);

const victim = (): number =>
  FAULT_VICTIM === undefined ? process.pid : Number.parseInt(readFileSync(FAULT_VICTIM, 'utf8'), 10);

await startService(settings.config, async (name) => {
  if (!isPoint(name)) return;
  if (FAULT_FILE !== undefined) renameSync(FAULT_FILE, `${FAULT_FILE}.done`);
  if (FAULT_SIGNAL === 'throw') {
    setImmediate(() => {
      throw new Error('a wire is loose');
    });
    return;
  }
  if (FAULT_SIGNAL === 'reject') {
    void Promise.reject(new Error('a wire is loose'));
    return;
  }
  process.kill(victim(), (FAULT_SIGNAL ?? 'SIGKILL') as NodeJS.Signals);
  // The signal may take a moment; nothing may happen after the point.
  if (FAULT_VICTIM === undefined) await new Promise(() => {});
});
