import type { FieldFaults } from '../field-faults.ts';
import { IDLE_SECONDS, TTL_SECONDS } from './lifetime/lifetime.ts';
import type { Range, Tier } from './resources.ts';

export type CatalogueKind = 'tier' | 'image' | 'role';

/** An image that containers may be made of. */
export type Image = {
  readonly key: string;
  readonly label: string;
  /** Name and tag, as engines take them. */
  readonly reference: string;
  /** `sha256:` and 64 hex digits: exactly this image, wherever the tag points. null: not pinned. */
  readonly digest: string | null;
  readonly shell: string;
};

/** The package managers a role can serve. The image decides which one is used. */
export const PACKAGE_MANAGERS = ['apt', 'apk', 'dnf'] as const;

export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** A set of development tools to install in a container. */
export type Role = {
  readonly key: string;
  readonly label: string;
  readonly packages: Readonly<Partial<Record<PackageManager, readonly string[]>>>;
  /** For `sh`, run after the packages, possibly more than once. null: none. */
  readonly script: string | null;
};

export const DEFAULT_IMAGE_KEY = 'debian';
export const DEFAULT_ROLE_KEY = 'standard';

/** The tiers of guests, registered users and administrators. */
export const TIER_OF = { guest: 'guest', user: 'free', admin: 'enterprise' } as const;

/** Entries that cannot be deleted. */
export const NEEDED: { readonly [K in CatalogueKind]: readonly string[] } = {
  tier: Object.values(TIER_OF),
  image: [DEFAULT_IMAGE_KEY],
  role: [DEFAULT_ROLE_KEY],
};

const KEY = /^[a-z0-9][a-z0-9-]{0,39}$/;
const LABEL = /^(?=.{1,100}$)[^\s\p{C}](?:[^\p{C}]*[^\s\p{C}])?$/u;
const COMPONENT = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const HOST = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]{1,5})?/)?';
const REFERENCE = new RegExp(
  `^${HOST}${COMPONENT}(?:/${COMPONENT})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$`,
);
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const SHELL = /^(?=.{2,255}$)(?:\/[A-Za-z0-9._+-]+)+$/;
// No package manager takes such a name for an option, a path, a pattern or, by a final hyphen, a removal.
const PACKAGE = /^[A-Za-z0-9][A-Za-z0-9+._:~=-]{0,126}[A-Za-z0-9+]$|^[A-Za-z0-9]$/;
const MAX_PACKAGES = 200;
const MAX_SCRIPT_BYTES = 16_384;

/** Images below this name are built on the engine's machine, never pulled. */
export const isMadeHere = (reference: string): boolean => reference.startsWith('berth/');

/** The reference for the engine. */
export const pinned = ({ reference, digest }: Pick<Image, 'reference' | 'digest'>): string =>
  digest === null ? reference : `${reference}@${digest}`;

const keyFaults = (field: 'key' | 'name', key: string): FieldFaults =>
  KEY.test(key) ? {} : { [field]: 'must be 1 to 40 lower-case letters, digits or hyphens' };

const labelFaults = (label: string): FieldFaults =>
  LABEL.test(label) ? {} : { label: 'must be 1 to 100 printable characters without spaces around them' };

export function imageFaults({ key, label, reference, digest, shell }: Image): FieldFaults {
  const isReference = reference.length <= 255 && REFERENCE.test(reference);
  return {
    ...keyFaults('key', key),
    ...labelFaults(label),
    ...(isReference ? {} : { reference: 'must be the name of an image, with a tag but without a digest' }),
    ...digestFaults(reference, digest),
    ...(SHELL.test(shell) ? {} : { shell: 'must be an absolute path' }),
  };
}

function digestFaults(reference: string, digest: string | null): FieldFaults {
  if (digest === null) return {};
  if (!DIGEST.test(digest)) return { digest: 'must be sha256: and 64 hexadecimal digits' };
  return isMadeHere(reference) ? { digest: 'must be empty for an image that Berth builds' } : {};
}

export function roleFaults({ key, label, packages, script }: Role): FieldFaults {
  const names = Object.values(packages).flat();
  const bad = names.find((name) => !PACKAGE.test(name));
  const isLong = script !== null && Buffer.byteLength(script) > MAX_SCRIPT_BYTES;
  return {
    ...keyFaults('key', key),
    ...labelFaults(label),
    ...(bad === undefined ? {} : { packages: `must be package names, not ${JSON.stringify(bad)}` }),
    ...(names.length > MAX_PACKAGES ? { packages: `must be at most ${MAX_PACKAGES} in all` } : {}),
    ...(isLong ? { script: 'must be at most 16 KiB' } : {}),
    ...(script?.includes('\0') ? { script: 'must not contain NUL' } : {}),
  };
}

const TIER_BOUNDS = {
  memoryMb: { min: 64, max: 16_777_216 },
  cpuMillicores: { min: 10, max: 1_024_000 },
  diskMb: { min: 64, max: 16_777_216 },
} as const;
const LAYER_BOUNDS = { min: 64, max: 16_777_216 };
const MAX_COUNT = 10_000;
/** A container needs a minute for its warnings. */
const LEAST_SECONDS = 60;
const SECONDS_BOUNDS = { maxTtlSeconds: TTL_SECONDS.max, maxIdleSeconds: IDLE_SECONDS.max } as const;
const COUNT_BOUNDS = {
  maxContainers: MAX_COUNT,
  maxAgents: MAX_COUNT,
  maxSnapshots: MAX_COUNT,
  snapshotMb: 1_073_741_824,
  requestsPerMinute: 1_000_000,
  maxTerminals: MAX_COUNT,
  maxEventSockets: MAX_COUNT,
  maxCommands: MAX_COUNT,
  maxUploads: MAX_COUNT,
  maxDownloads: MAX_COUNT,
} as const;

export function tierFaults(tier: Tier): FieldFaults {
  const faults: Record<string, string> = { ...keyFaults('name', tier.name) };
  for (const key of Object.keys(TIER_BOUNDS) as (keyof typeof TIER_BOUNDS)[]) {
    const bounds = TIER_BOUNDS[key];
    if (!liesIn(tier[key], bounds))
      faults[key] = `must be a range of whole numbers from ${bounds.min} to ${bounds.max}, min not above max`;
  }
  if (!liesIn({ min: tier.layerMb, max: tier.layerMb }, LAYER_BOUNDS))
    faults['layerMb'] = `must be a whole number from ${LAYER_BOUNDS.min} to ${LAYER_BOUNDS.max}`;
  for (const key of Object.keys(COUNT_BOUNDS) as (keyof typeof COUNT_BOUNDS)[]) {
    const count = tier[key];
    if (!liesIn({ min: count, max: count }, { min: 0, max: COUNT_BOUNDS[key] }))
      faults[key] = `must be a whole number from 0 to ${COUNT_BOUNDS[key]}`;
  }
  for (const key of Object.keys(SECONDS_BOUNDS) as (keyof typeof SECONDS_BOUNDS)[]) {
    const seconds = tier[key];
    const bounds = { min: LEAST_SECONDS, max: SECONDS_BOUNDS[key] };
    if (seconds !== 0 && !liesIn({ min: seconds, max: seconds }, bounds))
      faults[key] = `must be 0, or a whole number from ${bounds.min} to ${bounds.max}`;
  }
  return faults;
}

const liesIn = ({ min, max }: Range, bounds: Range): boolean =>
  Number.isInteger(min) && Number.isInteger(max) && bounds.min <= min && min <= max && max <= bounds.max;

export const installsSomething = ({ packages, script }: Role): boolean =>
  script !== null || Object.values(packages).some((names) => names.length > 0);

/** Smallest first: by memory, then by the other limits. */
export function compareTiers(a: Tier, b: Tier): number {
  const sizes = ({
    memoryMb,
    cpuMillicores,
    diskMb,
    maxContainers,
    maxAgents,
    layerMb,
  }: Tier): readonly number[] => [
    memoryMb.max,
    cpuMillicores.max,
    diskMb.max,
    maxContainers,
    maxAgents,
    layerMb,
  ];
  const others = sizes(b);
  const first = sizes(a)
    .map((size, at) => size - (others[at] ?? 0))
    .find((difference) => difference !== 0);
  return first ?? (a.name < b.name ? -1 : 1);
}

/** The default first, then by label. */
export const defaultFirst =
  (defaultKey: string) =>
  (a: { readonly key: string; readonly label: string }, b: typeof a): number => {
    if (a.key === defaultKey || b.key === defaultKey) return a.key === defaultKey ? -1 : 1;
    return a.label === b.label ? compareText(a.key, b.key) : compareText(a.label, b.label);
  };

const compareText = (a: string, b: string): number => (a < b ? -1 : 1);
