import {
  debianPackages,
  type LayerChanges,
  otherPackages,
  type PackageChange,
  type PathChange,
} from './layer-changes.ts';
import { shortened } from './loss-report-size.ts';

/** The files of one folder, or a single file under its own path. */
export type FileGroup = {
  readonly path: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** null when none of its files could be measured. */
  readonly sizeBytes: number | null;
  /** Caches, logs and package managers' data, which nobody misses. */
  readonly disposable: boolean;
};

/** What a recreate would lose, short enough to read. */
export type LossReport = {
  /** Explicitly installed packages first. */
  readonly packages: readonly PackageChange[];
  readonly packageCount: number;
  /** Without the files of those packages. Largest first, disposable ones last. */
  readonly files: readonly FileGroup[];
  readonly layerBytes: number | null;
  readonly complete: boolean;
};

export const MAX_ROWS = 200;

/** Prepared once per folder: a list has tens of thousands of paths. */
const below = (folder: string): ((path: string) => boolean) => {
  const inside = `${folder}/`;
  return (path) => path.startsWith(inside) || path === folder;
};

const WRITTEN_BY_THE_ENGINE = [
  '/.dockerenv',
  '/etc/hosts',
  '/etc/hostname',
  '/etc/resolv.conf',
  '/sbin/docker-init',
  '/usr/sbin/docker-init',
];

/** Mounts, and files that the engine writes for each container. */
const NOT_OF_THE_LAYER = [
  ...['/workspace', '/dev', '/proc', '/sys', '/opt/berth'].map(below),
  (path: string) => WRITTEN_BY_THE_ENGINE.includes(path),
];

const DISPOSABLE = [
  '/tmp',
  '/run',
  '/var/tmp',
  '/var/cache',
  '/var/log',
  '/var/lib/apt',
  '/var/lib/dpkg',
  '/var/lib/systemd',
  '/etc/ld.so.cache',
  '/etc/alternatives',
];

const CACHES = DISPOSABLE.map((folder) => ({ folder, has: below(folder) }));

/** Folders whose subfolders are reported one level deeper. */
const DEEPER = ['/usr/local', '/var/lib', '/home'].map(below);

/** Whether a path belongs to the container and is lost with it. */
export const isOfTheLayer = (path: string): boolean => !NOT_OF_THE_LAYER.some((test) => test(path));

/** Paths handled in one step: about two milliseconds. */
const PIECE = 500;

/** Groups the changes outside the volume until the report is short. */
export function lossReport(layer: LayerChanges): LossReport {
  const steps = lossSteps(layer);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in steps of a few milliseconds, so that other requests run in between. */
export function* lossSteps(layer: LayerChanges): Generator<void, LossReport> {
  const paths: PathChange[] = [];
  // Includes skipped paths: without sizes nothing else marks a path as a folder.
  const parents = new Set<string>();
  for (const [at, each] of layer.paths.entries()) {
    if (at % PIECE === 0) yield;
    parents.add(parentOf(each.path));
    if (isOfTheLayer(each.path)) paths.push(each);
  }
  const packages = debianPackages(layer, paths);
  for (let at = 0; at < paths.length; at += PIECE) {
    yield;
    packages.push(...otherPackages(paths.slice(at, at + PIECE)));
  }
  packages.sort((a, b) => Number(a.automatic) - Number(b.automatic) || (a.name < b.name ? -1 : 1));
  yield;
  const owned = new Set<string>();
  for (const { files } of layer.debian ?? []) {
    for (const [at, file] of files.entries()) {
      if (at % PIECE === PIECE - 1) yield;
      owned.add(merged(file));
    }
  }
  const groups = new Map<string, Group>();
  for (const [at, file] of paths.entries()) {
    if (at % PIECE === 0) yield;
    const { path, isFolder } = file;
    if (!isFolder && !parents.has(path) && !owned.has(merged(path))) put(groups, file);
  }
  yield;
  return shortened({
    packages: packages.slice(0, MAX_ROWS),
    packageCount: packages.length,
    files: yield* rowsOf(groups),
    layerBytes: layer.layerBytes,
    complete: layer.complete,
  });
}

const parentOf = (path: string): string => path.slice(0, Math.max(1, path.lastIndexOf('/')));

/** /bin, /lib and /sbin are links into /usr: packages name the one, the engine the other. */
const merged = (path: string): string => (/^\/(bin|sbin|lib\d*)\//.test(path) ? `/usr${path}` : path);

type Group = { path: string; files: PathChange[]; disposable: boolean };

function put(groups: Map<string, Group>, file: PathChange): void {
  const { path, disposable } = groupOf(file.path);
  const group = groups.get(path);
  if (group === undefined) groups.set(path, { path, files: [file], disposable });
  else group.files.push(file);
}

function* rowsOf(groups: Map<string, Group>): Generator<void, readonly FileGroup[]> {
  while (groups.size > MAX_ROWS) {
    foldDeepest(groups);
    yield;
  }
  return [...groups.values()].map(toRow).sort(byWeight);
}

/** The group that a file counts in. */
function groupOf(path: string): { readonly path: string; readonly disposable: boolean } {
  if (path.includes('/__pycache__/')) return { path: '**/__pycache__', disposable: true };
  const cache = CACHES.find(({ has }) => has(path))?.folder;
  if (cache !== undefined) return { path: cache, disposable: true };
  const home = /^\/(?:root|home\/[^/]+)\/\.cache(?=\/)/.exec(path)?.[0];
  if (home !== undefined) return { path: home, disposable: true };
  const depth = DEEPER.some((has) => has(path)) ? 3 : 2;
  const folder = firstOf(parentOf(path), depth);
  return { path: folder || '/', disposable: false };
}

function firstOf(path: string, depth: number): string {
  let end = 0;
  for (let names = 0; names < depth && end >= 0; names += 1) end = path.indexOf('/', end + 1);
  return end < 0 ? path : path.slice(0, end);
}

/** Merges the rows of a folder into one, fullest folders first, until the report is short or all folders are merged. */
function foldDeepest(groups: Map<string, Group>): void {
  const siblings = new Map<string, Group[]>();
  for (const group of groups.values()) {
    if (group.path === '/') continue;
    const rows = siblings.get(parentOf(group.path));
    if (rows === undefined) siblings.set(parentOf(group.path), [group]);
    else rows.push(group);
  }
  for (const [path, rows] of [...siblings].sort((a, b) => b[1].length - a[1].length)) {
    if (groups.size <= MAX_ROWS) return;
    for (const row of rows) groups.delete(row.path);
    const own = groups.get(path);
    const all = own === undefined ? rows : [...rows, own];
    const disposable = all.every((group) => group.disposable);
    groups.set(path, { path, files: all.flatMap(({ files }) => files), disposable });
  }
}

function toRow({ path, files, disposable }: Group): FileGroup {
  const count = (kind: PathChange['kind']): number => files.filter((file) => file.kind === kind).length;
  const sizes = files.flatMap(({ sizeBytes }) => (sizeBytes === null ? [] : [sizeBytes]));
  const only = files.length === 1 && !disposable ? files[0]?.path : undefined;
  return {
    path: only ?? path,
    added: count('added'),
    changed: count('changed'),
    removed: count('removed'),
    sizeBytes: sizes.length === 0 ? null : sizes.reduce((sum, size) => sum + size, 0),
    disposable,
  };
}

const byWeight = (a: FileGroup, b: FileGroup): number =>
  Number(a.disposable) - Number(b.disposable) ||
  (b.sizeBytes ?? 0) - (a.sizeBytes ?? 0) ||
  b.added + b.changed - (a.added + a.changed) ||
  (a.path < b.path ? -1 : 1);
