import type { Resources, Tier } from '../../api/types.ts';

export type Preset = { readonly label: string; readonly resources: Resources };

const SHARES = [1 / 8, 1 / 4, 1 / 2, 1] as const;

/** By how many different sizes there are. */
const LABELS: readonly (readonly string[])[] = [
  [],
  ['Largest'],
  ['Small', 'Largest'],
  ['Small', 'Medium', 'Largest'],
  ['Small', 'Medium', 'Large', 'Largest'],
];

const same = (a: Resources, b: Resources): boolean =>
  a.memory_mb === b.memory_mb && a.cpu_shares === b.cpu_shares && a.disk_mb === b.disk_mb;

const floorTo = (value: number, step: number): number => Math.floor(value / step) * step;

/** Down to a number that reads well. */
const STEPS: { readonly [K in keyof Resources]: (value: number) => number } = {
  memory_mb: (mb) => floorTo(mb, 128),
  cpu_shares: (millicores) => floorTo(millicores, 50),
  disk_mb: (mb) => floorTo(mb, mb < 4096 ? 512 : 1024),
};

/** Shares of what the tier allows at most, never below what it asks for at least; equal ones only once. */
export function presets(tier: Tier): readonly Preset[] {
  const share = (key: keyof Resources, part: number): number => {
    const { min, max } = tier[key];
    return part === 1 ? max : Math.min(max, Math.max(min, STEPS[key](max * part)));
  };
  const all = SHARES.map((part) => ({
    memory_mb: share('memory_mb', part),
    cpu_shares: share('cpu_shares', part),
    disk_mb: share('disk_mb', part),
  }));
  const sizes = all.filter((size, at) => !all.slice(0, at).some((other) => same(other, size)));
  return sizes.map((resources, at) => ({ label: LABELS[sizes.length]?.[at] ?? '', resources }));
}
