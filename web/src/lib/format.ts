const withUnit = (mb: number): string => (mb >= 1024 ? `${trim(mb / 1024)} GB` : `${mb} MB`);

/** At most one decimal, none when it is zero. */
const trim = (value: number): string => value.toFixed(1).replace(/\.0$/, '');

export const memory = (mb: number): string => withUnit(mb);
export const disk = (mb: number): string => withUnit(mb);

/** Millicores as CPUs: 1500 is `1.5 CPU`. */
export const cpu = (millicores: number): string => `${Number((millicores / 1000).toFixed(2))} CPU`;

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];

/** How long ago, coarsely: `just now`, `5 min ago`, `3 d ago`. */
export function ago(iso: string, now: Date): string {
  const seconds = (now.getTime() - new Date(iso).getTime()) / 1000;
  const step = STEPS.find(([size]) => seconds >= size);
  return step === undefined ? 'just now' : `${Math.floor(seconds / step[0])} ${step[1]} ago`;
}

export const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** The day in the words of the reader's language. */
export const onDay = (iso: string): string =>
  new Date(iso).toLocaleDateString(undefined, { dateStyle: 'medium' });
