/**
 * What becomes of the volume of a container that is deleted. It is never removed in one go, so that whoever notices
 * has time:
 *
 *   kept --retention is over--> condemned --a day later--> removed, for good
 *     ^                             |
 *     +---restored, or kept longer--+
 *
 * What its owner purges, and what a guest deletes, skips the day.
 */
export type DeletedVolume = {
  readonly deletedAt: Date;
  /** null while it is kept. */
  readonly condemnedAt: Date | null;
  /** Its owner gave it up for good. */
  readonly isPurged?: boolean;
  readonly isGuests?: boolean;
};

export const CONDEMNED_HOURS = 24;
/** How long one process has for removing a volume before another one tries. */
export const CLAIM_MINUTES = 10;
/** Guests keep nothing longer than an hour; the rest of it is for the pass that removes. */
export const GUEST_KEEPS_MINUTES = 50;
/** Live and kept containers of an owner may be so many times what the tier allows live. */
const KEPT_FACTOR = 2;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** How many live and kept containers an owner may have in all. */
export const mostWithKept = (maxContainers: number): number => KEPT_FACTOR * maxContainers;

/**
 * Until when a deleted container can be restored, at least: a pass that removes may come a little later. A purge ends it at
 * once. `retentionDays` as they are set now.
 */
export function keptUntil(
  { deletedAt, isGuests = false }: Pick<DeletedVolume, 'deletedAt' | 'isGuests'>,
  retentionDays: number,
): Date {
  const keptMs = isGuests
    ? GUEST_KEEPS_MINUTES * MINUTE_MS
    : (retentionDays * 24 + CONDEMNED_HOURS) * HOUR_MS;
  return new Date(deletedAt.getTime() + keptMs);
}

/** What is due; `spare` undoes a condemnation. `now` is the database's clock. */
export function volumeDue(
  { deletedAt, condemnedAt, isPurged = false, isGuests = false }: DeletedVolume,
  retentionDays: number,
  now: Date,
): 'nothing' | 'condemn' | 'spare' | 'remove' {
  const ageMs = now.getTime() - deletedAt.getTime();
  if (isPurged || (isGuests && ageMs >= GUEST_KEEPS_MINUTES * MINUTE_MS)) return 'remove';
  const isOver = ageMs >= retentionDays * 24 * HOUR_MS;
  if (condemnedAt === null) return isOver ? 'condemn' : 'nothing';
  if (!isOver) return 'spare';
  return now.getTime() - condemnedAt.getTime() >= CONDEMNED_HOURS * HOUR_MS ? 'remove' : 'nothing';
}
