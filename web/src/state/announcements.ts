import { signal } from '@preact/signals';
import { type Announcement, currentAnnouncements } from '../api/service/announcements.ts';
import { onStored, store, stored } from '../lib/browser/storage.ts';
import { onServiceChange, watch } from './events.ts';

/** The last change of each dismissed announcement, by its id: a later change shows it again. */
type Dismissed = Readonly<Record<string, string>>;

/** A scheduled one begins, and ends, without an event. */
const EVERY_MS = 60_000;
const KEY = 'dismissed_announcements';

const all = signal<readonly Announcement[]>([]);
const dismissed = signal<Dismissed>(readDismissed());

function readDismissed(): Dismissed {
  try {
    const value: unknown = JSON.parse(stored(KEY) ?? '{}');
    return typeof value === 'object' && value !== null ? (value as Dismissed) : {};
  } catch {
    return {};
  }
}

/** What this browser has not dismissed, warnings first. */
export const shownAnnouncements = (): readonly Announcement[] =>
  all.value
    .filter(({ id, updated_at }) => dismissed.value[id] !== updated_at)
    .toSorted((a, b) => Number(b.severity === 'warning') - Number(a.severity === 'warning'));

/** Until it is changed. Forgets those that are over. */
export function dismissAnnouncement({ id, updated_at }: Announcement): void {
  // why: another tab may have dismissed some
  const before = { ...dismissed.value, ...readDismissed() };
  const kept = all.value
    .filter((one) => before[one.id] !== undefined)
    .map((one) => [one.id, before[one.id] ?? ''] as const);
  dismissed.value = { ...Object.fromEntries(kept), [id]: updated_at };
  store(KEY, JSON.stringify(dismissed.value));
}

/** Keeps them up to date until the returned function is called. */
export function followAnnouncements(): () => void {
  const refresh = async (): Promise<void> => {
    try {
      all.value = await currentAnnouncements();
    } catch {
      // why: the last known ones are better than none, and other requests say what is wrong
    }
  };
  const polling = watch({
    refresh,
    isSettled: () => true,
    settledMs: EVERY_MS,
    changingMs: EVERY_MS,
    concerns: () => false,
  });
  const stop = onServiceChange('announcement_changed', polling.soon);
  const stopStored = onStored(KEY, () => {
    dismissed.value = { ...dismissed.value, ...readDismissed() };
  });
  return () => {
    stop();
    stopStored();
    polling.stop();
  };
}

/** For the next user. */
export const forgetAnnouncements = (): void => {
  all.value = [];
};
