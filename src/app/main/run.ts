import { setFlagsFromString } from 'node:v8';
import { SchemaIsNewer } from '../../adapters/postgres/migrate.ts';
import { readConfig } from './config.ts';
import { startService } from './start.ts';

const EX_CONFIG = 78;

/**
 * Runs the service with the settings of the environment. A failed start is printed and sets the exit code. `checkpoint`
 * is for tests that end the process.
 */
export async function runService(checkpoint?: (name: string) => Promise<void>): Promise<void> {
  // Otherwise each 64 MiB that terminals write causes a full garbage collection, the largest part of their cost.
  setFlagsFromString('--external-memory-accounted-in-global-limit');
  const settings = readConfig(process.env);
  if ('faults' in settings) {
    for (const fault of settings.faults) process.stderr.write(`${fault}\n`);
    process.exitCode = EX_CONFIG;
    return;
  }
  await startService(settings.config, checkpoint).catch((error: unknown) => {
    process.stderr.write(`Berth did not start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof SchemaIsNewer ? EX_CONFIG : 1;
  });
}
