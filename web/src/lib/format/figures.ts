/** `3 %` of its limit. */
export const cpuShare = (usedMillicores: number, limitMillicores: number): string =>
  `${Math.round((100 * usedMillicores) / limitMillicores)} %`;

const MIB = 1_048_576;

/** Less than this is said in MB: it would be `0.0 GB`, or close to it. */
const LITTLE_MB = 100;

/** `132 of 512 MB`, `0.9 of 2 GB`, `24 MB of 2 GB`. */
export function memoryUse(usedBytes: number, limitMb: number): string {
  const usedMb = usedBytes / MIB;
  if (limitMb < 1024) return `${Math.round(usedMb)} of ${limitMb} MB`;
  const used = usedMb < LITTLE_MB ? `${Math.round(usedMb)} MB` : (usedMb / 1024).toFixed(1);
  return `${used} of ${Number((limitMb / 1024).toFixed(1))} GB`;
}

/**
 * The path of a line through the values, from the left to the right edge; `top` is at the upper edge. A value without
 * neighbours is a point, and gaps stay open.
 */
export function linePath(
  values: readonly (number | null)[],
  top: number,
  width: number,
  height: number,
): string {
  const step = width / Math.max(1, values.length - 1);
  const at = (index: number, value: number): string => {
    const y = height - 1 - Math.min(1, value / Math.max(1, top)) * (height - 2);
    return `${(index * step).toFixed(1)} ${y.toFixed(1)}`;
  };
  return values
    .map((value, index) => {
      if (value === null) return '';
      const isFirst = (values[index - 1] ?? null) === null;
      return isFirst ? `M${at(index, value)}h0.1` : `L${at(index, value)}`;
    })
    .join('');
}
