import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Part } from './part.ts';

const run = promisify(execFile);

const CACHE = path.resolve('.tap', 'node20');
/** The oldest that the command promises to run on. */
const VERSION = '20.11.0';

/** A Node.js 20: the machine's own, else one from the package registry. */
export async function findNode20(_folder: string, progress: (line: string) => void): Promise<Part<'node20'>> {
  const own = (process.env['PATH'] ?? '').split(':').map((folder) => path.join(folder, 'node'));
  const name = `node-linux-${process.arch}`;
  const kept = path.join(CACHE, 'node_modules', name, 'bin', 'node');
  for (const program of [...own, kept]) if (await isNode20(program)) return partOf(program);
  progress('downloading Node.js 20');
  mkdirSync(CACHE, { recursive: true });
  await run('npm', ['install', '--prefix', CACHE, '--no-save', '--ignore-scripts', `${name}@${VERSION}`]);
  return partOf(kept);
}

const partOf = (program: string): Part<'node20'> => ({ value: { program }, stop: async () => {} });

async function isNode20(program: string): Promise<boolean> {
  if (!existsSync(program)) return false;
  const { stdout } = await run(program, ['--version']).catch(() => ({ stdout: '' }));
  return stdout.startsWith('v20.');
}
