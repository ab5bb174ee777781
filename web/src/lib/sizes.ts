import type { Resources, Tier } from '../api/types.ts';

export type SizeKey = 'small' | 'medium' | 'large' | 'largest';
export type Preset = { readonly key: SizeKey; readonly label: string; readonly resources: Resources };

const SHARES: readonly (readonly [SizeKey, string, number])[] = [
  ['small', 'Small', 1 / 8],
  ['medium', 'Medium', 1 / 4],
  ['large', 'Large', 1 / 2],
  ['largest', 'Largest', 1],
];

const same = (a: Resources, b: Resources): boolean =>
  a.memory_mb === b.memory_mb && a.cpu_shares === b.cpu_shares && a.disk_mb === b.disk_mb;

/** Shares of what the tier allows at most, never below what it asks for at least; equal ones only once. */
export function presets(tier: Tier): readonly Preset[] {
  const share = ({ min, max }: { min: number; max: number }, part: number): number =>
    Math.min(max, Math.max(min, Math.floor(max * part)));
  const all = SHARES.map(([key, label, part]) => ({
    key,
    label,
    resources: {
      memory_mb: share(tier.memory_mb, part),
      cpu_shares: share(tier.cpu_shares, part),
      disk_mb: share(tier.disk_mb, part),
    },
  }));
  return all.filter((preset, i) => !all.slice(0, i).some((other) => same(other.resources, preset.resources)));
}
