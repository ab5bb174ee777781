import type { Changes } from '../api/types.ts';
import { bytes, plural } from './format/format.ts';

const MAX_PACKAGES = 8;
const MAX_PATHS = 6;

/** Nothing was found, and more may be there: the engine could not list it. */
export const isUnlisted = ({ package_count, files, complete }: Changes): boolean =>
  !complete && package_count === 0 && files.length === 0;

/** What a recreate would lose, in a few lines; none when it is certain that nothing of value would be. */
export function lossLines({ packages, package_count, files, complete }: Changes): readonly string[] {
  const asked = packages.filter(({ automatic }) => !automatic);
  const named = asked
    .slice(0, MAX_PACKAGES)
    .map(({ name, change }) => (change === 'removed' ? `${name} (removed)` : name));
  const others = package_count - named.length;
  const paths = files.filter(({ disposable }) => !disposable);
  const more = others > 0 ? ` and ${others} more` : '';
  const lines = [
    ...(package_count > 0 ? [`Packages: ${named.join(', ')}${more}`] : []),
    ...paths.slice(0, MAX_PATHS).map(pathLine),
    ...(paths.length > MAX_PATHS ? [plural(paths.length - MAX_PATHS, 'more path')] : []),
  ];
  return complete ? lines : [...lines, 'This list is incomplete.'];
}

function pathLine({ path, added, changed, removed, size_bytes }: Changes['files'][number]): string {
  const counts = [
    added > 0 && `${added} added`,
    changed > 0 && `${changed} changed`,
    removed > 0 && `${removed} removed`,
  ].filter(Boolean);
  const size = size_bytes === null || size_bytes === 0 ? '' : `, ${bytes(size_bytes)}`;
  return `${path}: ${counts.join(', ')}${size}`;
}
