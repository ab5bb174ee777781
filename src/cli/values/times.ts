import { InvalidArgumentError } from '@commander-js/extra-typings';

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** `90s`, `10m`, `2h`, `7d`, `1w` as seconds. */
export function seconds(text: string): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)([smhdw])$/i.exec(text.trim()) ?? [];
  const length = Number(number) * (SECONDS[unit.toLowerCase()] ?? Number.NaN);
  if (number === '' || !Number.isFinite(length) || length <= 0) {
    throw new InvalidArgumentError('Give a length of time, such as 30m, 2h or 7d.');
  }
  return length;
}

/** A length of time before now, or a time in ISO 8601; as ISO 8601 in UTC. */
export function pointInTime(text: string): string {
  if (/^\d+(\.\d+)?[smhdw]$/i.test(text)) return new Date(Date.now() - seconds(text) * 1000).toISOString();
  const time = /^\d{4}-/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError(
      'Give a time such as 2026-03-01 or 2026-03-01T12:00Z, or 2h for two hours ago.',
    );
  }
  return new Date(time).toISOString();
}

/**
 * A length of time from now, a day, of which the end counts, or a time in ISO 8601; as ISO 8601 in UTC. null for
 * `never`.
 */
export function endTime(text: string): string | null {
  if (text === 'never') return null;
  if (/^\d+(\.\d+)?[smhdw]$/i.test(text)) return new Date(Date.now() + seconds(text) * 1000).toISOString();
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59` : text;
  const time = /^\d{4}-/.test(text) ? Date.parse(day) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new InvalidArgumentError('Give a day such as 2027-03-31, a length of time such as 30d, or never.');
  }
  return new Date(time).toISOString();
}

/** `3 h ago`, `in 2 d`; `–` for never. */
export function ago(iso: string | null | undefined): string {
  if (iso == null) return '–';
  const elapsed = (Date.now() - Date.parse(iso)) / 1000;
  const text = lengthText(Math.abs(elapsed));
  return elapsed >= 0 ? `${text} ago` : `in ${text}`;
}

/** The largest whole unit: `3 d`, `2 h`, `5 min`, `40 s`. */
export function lengthText(length: number): string {
  const found = UNITS.find(([size]) => length >= size);
  return found === undefined ? `${Math.floor(length)} s` : `${Math.floor(length / found[0])} ${found[1]}`;
}
