import type { Resources, Tier } from '../../api/types.ts';

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
  const all = SHARES.map(([key, label, part]) => ({
    key,
    label,
    resources: {
      memory_mb: share('memory_mb', part),
      cpu_shares: share('cpu_shares', part),
      disk_mb: share('disk_mb', part),
    },
  }));
  return all.filter((preset, i) => !all.slice(0, i).some((other) => same(other.resources, preset.resources)));
}
