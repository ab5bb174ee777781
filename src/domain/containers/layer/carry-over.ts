import type { PackageChange } from './layer-changes.ts';
import { type FileGroup, type LossReport, MAX_ROWS } from './loss-report.ts';
import { shortened } from './loss-report-size.ts';

/** A container's private image, with software carried over by a recreate. */
export type LayerImage = {
  readonly image: string;
  /** What it adds to the catalogue's image; null when that could not be measured. */
  readonly changes: LossReport | null;
};

/** What a recreate from the catalogue's image would lose: carried-over and newer changes. */
export function withLayerImage(now: LossReport, layerImage: LayerImage | null): LossReport {
  if (layerImage === null) return now;
  if (layerImage.changes === null) return { ...now, complete: false };
  const before = layerImage.changes;
  const packages = mergePackages(before.packages, now.packages);
  const files = mergeFiles(before.files, now.files);
  const layerBytes = sum(before.layerBytes, now.layerBytes);
  const cut = packages.length > MAX_ROWS || files.length > MAX_ROWS;
  return shortened({
    packages: packages.slice(0, MAX_ROWS),
    packageCount: packages.length + hidden(before) + hidden(now),
    files: files.slice(0, MAX_ROWS),
    layerBytes: before.layerBytes === null || now.layerBytes === null ? null : layerBytes,
    complete: before.complete && now.complete && !cut,
  });
}

/** Packages that a report counts without naming. */
const hidden = ({ packages, packageCount }: LossReport): number => packageCount - packages.length;

/** The later change of a package wins; one that was added and removed is omitted. */
function mergePackages(before: readonly PackageChange[], now: readonly PackageChange[]): PackageChange[] {
  const all = new Map<string, PackageChange>();
  for (const one of before) all.set(`${one.manager} ${one.name}`, one);
  for (const one of now) {
    const key = `${one.manager} ${one.name}`;
    const earlier = all.get(key);
    if (earlier?.change === 'added' && one.change === 'removed') all.delete(key);
    else all.set(key, earlier?.change === 'added' ? { ...one, change: 'added' } : one);
  }
  return [...all.values()].sort(
    (a, b) => Number(a.automatic) - Number(b.automatic) || (a.name < b.name ? -1 : 1),
  );
}

function mergeFiles(before: readonly FileGroup[], now: readonly FileGroup[]): FileGroup[] {
  const all = new Map(before.map((one) => [one.path, one]));
  for (const one of now) {
    const earlier = all.get(one.path);
    all.set(one.path, earlier === undefined ? one : mergeGroups(earlier, one));
  }
  return [...all.values()].sort(
    (a, b) => Number(a.disposable) - Number(b.disposable) || (b.sizeBytes ?? 0) - (a.sizeBytes ?? 0),
  );
}

const mergeGroups = (a: FileGroup, b: FileGroup): FileGroup => ({
  path: a.path,
  added: a.added + b.added,
  changed: a.changed + b.changed,
  removed: a.removed + b.removed,
  sizeBytes: a.sizeBytes === null && b.sizeBytes === null ? null : sum(a.sizeBytes, b.sizeBytes),
  disposable: a.disposable && b.disposable,
});

const sum = (a: number | null, b: number | null): number => (a ?? 0) + (b ?? 0);
