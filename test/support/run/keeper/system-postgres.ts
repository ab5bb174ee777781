import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { installPackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import type { Part } from './part.ts';

const ROOT = '/usr/lib/postgresql';
const log = { info: console.log, warn: console.warn, error: console.error };

/** The newest programs of the distribution's PostgreSQL, installed now when we are root and that starts no service. */
export async function findSystemPostgres(
  _folder: string,
  progress: (line: string) => void,
): Promise<Part<'systemPostgres'>> {
  const startsServices = existsSync('/run/systemd/system');
  if (newest() === null && process.getuid?.() === 0 && !startsServices)
    await installPackages(['postgresql'], { progress, log });
  const programs = newest();
  if (programs === null) throw new Error('apt-get install postgresql');
  return { value: { programs }, stop: async () => {} };
}

function newest(): string | null {
  const majors = existsSync(ROOT) ? readdirSync(ROOT).map(Number) : [];
  const [major] = majors.sort((a, b) => b - a);
  return major === undefined ? null : path.join(ROOT, `${major}`, 'bin');
}
