import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';
import { must } from './packages.mjs';

const INSTALL = ['install', '--yes', '--no-install-recommends'];

/**
 * Installs what a cluster of one's own needs of the machine, where it is missing. Throws where there can be no such
 * cluster.
 * @param {Readonly<Record<string, string>>} programs With their packages.
 * @param {{ progress: (line: string) => void, otherwise?: string }} options
 */
export async function ensurePrograms(programs, { progress, otherwise }) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Fault(`a cluster of one's own needs root on Linux${otherwise ? `: or ${otherwise}` : ''}`);
  /** @type {string[]} */
  const absent = [];
  for (const [program, name] of Object.entries(programs)) if (!(await isThere(program))) absent.push(name);
  if (absent.length === 0) return;
  progress(`installing ${absent.join(', ')}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
  await must('apt-get', [...INSTALL, ...absent], { cwd: '/', env });
}

/** @param {string} program */
async function isThere(program) {
  const { code } = await capture('sh', ['-c', 'command -v "$0"', program], { cwd: '/' });
  return code === 0;
}
