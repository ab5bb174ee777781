import type { FieldFaults } from '../field-faults.ts';
import type { UseLimits } from '../identity/use-limits.ts';
import { ok, type Result, refuse } from '../result.ts';
import type { LifetimeLimits } from './lifetime/lifetime.ts';

/** A container's limits. `cpuMillicores` is a hard cap, not a weight. */
export type Resources = {
  readonly memoryMb: number;
  readonly cpuMillicores: number;
  readonly diskMb: number;
};

export type Range = { readonly min: number; readonly max: number };

/** The limits of a tier's users. */
export type Tier = {
  readonly name: string;
  readonly memoryMb: Range;
  readonly cpuMillicores: Range;
  readonly diskMb: Range;
  /** What a container may write outside its volume. */
  readonly layerMb: number;
  readonly maxContainers: number;
  readonly maxAgents: number;
  readonly maxSnapshots: number;
  /** The disk that all snapshots of a user may use. */
  readonly snapshotMb: number;
} & LifetimeLimits &
  UseLimits;

const FIELDS: readonly (keyof Resources)[] = ['memoryMb', 'cpuMillicores', 'diskMb'];

const inRange = (value: number, { min, max }: Range): boolean =>
  Number.isInteger(value) && value >= min && value <= max;

/** Every value that lies outside the tier. */
export function resourceFaults(resources: Resources, tier: Tier): FieldFaults {
  const faults: Record<string, string> = {};
  for (const key of FIELDS) {
    const range = tier[key];
    if (!inRange(resources[key], range)) {
      faults[key] = `must be a whole number from ${range.min} to ${range.max} in tier ${tier.name}`;
    }
  }
  return faults;
}

export const sameResources = (one: Resources, other: Resources): boolean =>
  one.memoryMb === other.memoryMb && one.cpuMillicores === other.cpuMillicores && one.diskMb === other.diskMb;

/** The defaults of a new container: a quarter of the tier, inside its range. */
export function defaultResources(tier: Tier): Resources {
  const quarter = ({ min, max }: Range): number => Math.min(max, Math.max(min, Math.floor(max / 4)));
  return {
    memoryMb: quarter(tier.memoryMb),
    cpuMillicores: quarter(tier.cpuMillicores),
    diskMb: quarter(tier.diskMb),
  };
}

export function withinTier(
  resources: Resources,
  tier: Tier,
): Result<Resources, { code: 'validation_failed'; fields: FieldFaults }> {
  const fields = resourceFaults(resources, tier);
  return Object.keys(fields).length === 0 ? ok(resources) : refuse({ code: 'validation_failed', fields });
}
