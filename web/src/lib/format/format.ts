const withUnit = (mb: number): string => (mb >= 1024 ? `${trim(mb / 1024)} GB` : `${mb} MB`);

/** At most one decimal, none when it is zero. */
const trim = (value: number): string => value.toFixed(1).replace(/\.0$/, '');

/** Bytes with the unit that suits them: 1536 is `1.5 KB`. */
export function bytes(count: number): string {
  const steps = count < 1 ? 0 : Math.min(3, Math.floor(Math.log2(count) / 10));
  return `${trim(count / 1024 ** steps)} ${['B', 'KB', 'MB', 'GB'][steps]}`;
}

export const memory = (mb: number): string => withUnit(mb);
export const disk = (mb: number): string => withUnit(mb);

/** `0.3 of 2 GB`: both in the unit of the size. */
export const diskUse = (usedMb: number, sizeMb: number): string =>
  sizeMb >= 1024 ? `${trim(usedMb / 1024)} of ${withUnit(sizeMb)}` : `${usedMb} of ${withUnit(sizeMb)}`;

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

/** How soon, coarsely: `within a minute`, `in 5 min`, `in 3 h`. */
export function within(iso: string, now: Date): string {
  const seconds = (new Date(iso).getTime() - now.getTime()) / 1000;
  // So that 59.9 minutes are an hour, not 60 minutes.
  const step = STEPS.find(([size], at) => {
    const [finer] = STEPS[at + 1] ?? [1];
    return Math.round(seconds / finer) * finer >= size;
  });
  return step === undefined ? 'within a minute' : `in ${Math.round(seconds / step[0])} ${step[1]}`;
}

export const plural = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;

/** A length of time as a clock shows it: `0:07`, `1:02:03`. */
export function clockTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const two = (value: number): string => String(value % 60).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}
/** The second, in the words of the reader's language and the zone of the reader's clock. */
export const at = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' });

/** The same, to the minute. */
export const atMinute = (iso: string): string =>
  new Date(iso).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'short' });

/** The second of the day, in the words of the reader's language and the zone of the reader's clock. */
export const timeOfDay = (iso: string): string =>
  new Date(iso).toLocaleTimeString(undefined, { timeStyle: 'medium' });

/** The day in the words of the reader's language. */
export const onDay = (iso: string): string =>
  new Date(iso).toLocaleDateString(undefined, { dateStyle: 'medium' });
