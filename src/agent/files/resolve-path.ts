import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { FILE_LIMITS } from '../../domain/containers/files.ts';
import { FileFault, faultCode } from './file-fault.ts';

/** Where a path leads: a folder that is no link, and a name in it, which may be one. The home and `/` have no name. */
export type ResolvedPath = { readonly folder: string; readonly name: string };

export const pathOf = ({ folder, name }: ResolvedPath): string => path.join(folder, name);

/**
 * Resolves a path. A relative one is below the home, and stays there whatever links are on the way; an absolute one may
 * be anywhere. `missing` folders on the way are returned, outermost first. Throws `FileFault`.
 */
export async function resolvePath(
  home: string,
  wanted: string,
): Promise<ResolvedPath & { readonly missing: readonly string[] }> {
  const isAbsolute = path.isAbsolute(wanted);
  const names = wanted.split('/').filter((name) => name !== '' && name !== '.');
  if (wanted.includes('\0') || names.length > FILE_LIMITS.depth) throw new FileFault('file_not_found');
  if (names.includes('..')) throw new FileFault('file_outside');
  const root = await realpath(isAbsolute ? '/' : home);
  const name = names.pop() ?? '';
  const { folder, missing } = await deepest(root, names);
  const isInside = root === '/' || folder === root || folder.startsWith(`${root}/`);
  if (!isInside) throw new FileFault('file_outside');
  return {
    folder: path.join(folder, ...missing),
    name,
    missing: missing.map((_, at) => below(folder, missing, at)),
  };
}

const below = (folder: string, missing: readonly string[], at: number): string =>
  path.join(folder, ...missing.slice(0, at + 1));

/** The deepest existing folder of these, without links. */
async function deepest(
  root: string,
  names: readonly string[],
): Promise<{ folder: string; missing: string[] }> {
  const missing: string[] = [];
  for (let left = [...names]; ; ) {
    try {
      return { folder: await realpath(path.join(root, ...left)), missing };
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isMissing || left.length === 0) throw new FileFault(faultCode(error) ?? 'file_not_found');
    }
    missing.unshift(left.at(-1) as string);
    left = left.slice(0, -1);
  }
}
