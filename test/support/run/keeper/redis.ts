import { existsSync } from 'node:fs';
import { installPackages, missingPackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import type { Part } from './part.ts';

const REDIS = { 'redis-server': 'redis-server' };
const log = { info: console.log, warn: console.warn, error: console.error };

/** The distribution's Redis, installed if possible as root and without starting a service. */
export async function findRedis(_folder: string, progress: (line: string) => void): Promise<Part<'redis'>> {
  const startsServices = existsSync('/run/systemd/system');
  if ((await missingPackages(REDIS)).length > 0 && process.getuid?.() === 0 && !startsServices)
    await installPackages(['redis-server'], { progress, log });
  if ((await missingPackages(REDIS)).length > 0) throw new Error('apt-get install redis-server');
  return { value: { program: 'redis-server' }, stop: async () => {} };
}
