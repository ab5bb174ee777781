/**
 * What happens to the volume of a deleted container. Two steps leave time to notice a mistake:
 *
 *   kept --retention expires--> condemned --a day later--> removed, for good
 *     ^                             |
 *     +---restored, or kept longer--+
 *
 * An owner's purge and a guest's delete skip the day.
 */
export type DeletedVolume = {
  readonly deletedAt: Date;
  /** null while it is kept. */
  readonly condemnedAt: Date | null;
  /** Given up by its owner for good. */
  readonly isPurged?: boolean;
  readonly isGuests?: boolean;
};

export const CONDEMNED_HOURS = 24;
/** How long a process may take to remove a volume before another tries. */
export const CLAIM_MINUTES = 10;
/** Guests keep nothing longer than an hour; the rest is for the removing pass. */
export const GUEST_KEEPS_MINUTES = 50;
/** Live and kept containers may be this many times the tier's live limit. */
const KEPT_FACTOR = 2;

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

export const mostWithKept = (maxContainers: number): number => KEPT_FACTOR * maxContainers;

/** The earliest end of a deleted container's retention; a removing pass may come later. A purge ends it at once. */
export function keptUntil(
  { deletedAt, isGuests = false }: Pick<DeletedVolume, 'deletedAt' | 'isGuests'>,
  retentionDays: number,
): Date {
  const keptMs = isGuests
    ? GUEST_KEEPS_MINUTES * MINUTE_MS
    : (retentionDays * 24 + CONDEMNED_HOURS) * HOUR_MS;
  return new Date(deletedAt.getTime() + keptMs);
}

/**
 * What is due; `spare` undoes a condemnation. `now` is the database's clock. PostgreSQL has the same rule as conditions
 * (retention-rule.ts).
 */
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
