import { installPackages, missingPackages } from '../../../../src/adapters/docker/engine/host-packages.ts';
import type { Part } from './part.ts';

const SHELLS = { bash: 'bash', zsh: 'zsh', fish: 'fish' };
const log = { info: console.log, warn: console.warn, error: console.error };

/** The shells of the distribution, installed if possible as root. */
export async function findShells(_folder: string, progress: (line: string) => void): Promise<Part<'shells'>> {
  const absent = await missingPackages(SHELLS);
  if (absent.length > 0 && process.getuid?.() === 0) await installPackages(absent, { progress, log });
  const missing = await missingPackages(SHELLS);
  if (missing.length > 0) throw new Error(`apt-get install ${missing.join(' ')}`);
  return { value: SHELLS, stop: async () => {} };
}
