import type { Outage } from '../api/service/health-history.ts';
import { onDay } from './format/format.ts';

export type OutageDay = { readonly day: string; readonly outages: readonly Outage[] };

const DAY_MS = 86_400_000;
export const TIMELINE_DAYS = 30;

/** The outages that began in the last 30 days, or last since before, by the day of their start. */
export function outageDays(outages: readonly Outage[], now: Date): readonly OutageDay[] {
  const first = now.getTime() - TIMELINE_DAYS * DAY_MS;
  const days: { day: string; outages: Outage[] }[] = [];
  for (const outage of outages) {
    const isOver = outage.to !== null && new Date(outage.to).getTime() < first;
    if (isOver) continue;
    const day = onDay(outage.from);
    const last = days.at(-1);
    if (last?.day === day) last.outages.push(outage);
    else days.push({ day, outages: [outage] });
  }
  return days;
}

/** `4 min`, `1 h 5 min`, `40 s`. */
export function lengthWords(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  const [days, hours] = [Math.floor(minutes / 1_440), Math.floor((minutes % 1_440) / 60)];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return minutes % 60 > 0 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${minutes} min`;
}
