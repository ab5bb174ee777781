/** A path outside the volume that differs from the image. */
export type PathChange = {
  readonly path: string;
  readonly kind: 'added' | 'changed' | 'removed';
  /** On disk; null when it could not be measured. */
  readonly sizeBytes: number | null;
  readonly isFolder: boolean;
};

/** A Debian package of a running container, from its package database. */
export type DebianPackage = {
  readonly name: string;
  readonly version: string;
  /** Installed as a dependency. */
  readonly automatic: boolean;
  readonly files: readonly string[];
};

/** The engine's view of a container's layer. */
export type LayerChanges = {
  readonly paths: readonly PathChange[];
  /** False when paths were left unread or unmeasured. */
  readonly complete: boolean;
  readonly layerBytes: number | null;
  /** The packages that `debianNames` finds in the paths; null when the container could not be asked. */
  readonly debian: readonly DebianPackage[] | null;
};

export type PackageChange = {
  readonly manager: 'apt' | 'pip' | 'npm';
  readonly name: string;
  readonly version: string | null;
  readonly change: 'added' | 'updated' | 'removed';
  readonly automatic: boolean;
};

/** Debian packages that were added, updated or removed, according to changed files of dpkg. */
export function debianNames(paths: readonly PathChange[]): ReadonlyMap<string, PackageChange['change']> {
  const names = new Map<string, PackageChange['change']>();
  for (const { path, kind } of paths) {
    const name = /^\/var\/lib\/dpkg\/info\/([a-z0-9][a-z0-9+.-]+)(?::[a-z0-9]+)?\.list$/.exec(path)?.[1];
    if (name !== undefined) names.set(name, kind === 'changed' ? 'updated' : kind);
  }
  return names;
}

/** From the engine's paths and, if available, the package database. */
export function debianPackages(layer: LayerChanges, paths: readonly PathChange[]): PackageChange[] {
  const known = layer.debian === null ? null : new Map(layer.debian.map((each) => [each.name, each]));
  return [...debianNames(paths)].flatMap(([name, change]): PackageChange[] => {
    const found = known?.get(name);
    // dpkg's files are there, but it is not installed.
    if (known !== null && found === undefined && change !== 'removed') return [];
    const { version = null, automatic = false } = found ?? {};
    return [{ manager: 'apt', name, version, change, automatic }];
  });
}

/** What pip and npm installed globally; Debian's packages are elsewhere. */
export const otherPackages = (paths: readonly PathChange[]): PackageChange[] =>
  paths.flatMap(({ path, kind }): PackageChange[] => {
    if (kind === 'changed' || path.startsWith('/usr/lib/python3/')) return [];
    const change = { change: kind, automatic: false } as const;
    const python = /\/(?:dist|site)-packages\/([^/]+)-([^/-]+)\.dist-info\/METADATA$/.exec(path);
    if (python?.[1] !== undefined) {
      return [{ manager: 'pip', name: python[1], version: python[2] ?? null, ...change }];
    }
    const node =
      /^(?:(?!\/node_modules\/).)*\/lib\/node_modules\/((?:@[^/]+\/)?[^/@]+)\/package\.json$/s.exec(path);
    return node?.[1] === undefined ? [] : [{ manager: 'npm', name: node[1], version: null, ...change }];
  });
