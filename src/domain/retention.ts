/**
 * What becomes of the volume of a container that is deleted. It is never removed in one go, so that whoever notices
 * has time:
 *
 *   kept --retention is over--> condemned --a day later--> removed, for good
 *     ^                             |
 *     +---restored, or kept longer--+
 */
export type DeletedVolume = {
  readonly deletedAt: Date;
  /** null while it is kept. */
  readonly condemnedAt: Date | null;
};

export const CONDEMNED_HOURS = 24;
/** How long one process has for removing a volume before another one tries. */
export const CLAIM_MINUTES = 10;

const HOUR_MS = 3_600_000;

/** What is due; `spare` undoes a condemnation. `now` is the database's clock. */
export function volumeDue(
  { deletedAt, condemnedAt }: DeletedVolume,
  retentionDays: number,
  now: Date,
): 'nothing' | 'condemn' | 'spare' | 'remove' {
  const isOver = now.getTime() - deletedAt.getTime() >= retentionDays * 24 * HOUR_MS;
  if (condemnedAt === null) return isOver ? 'condemn' : 'nothing';
  if (!isOver) return 'spare';
  return now.getTime() - condemnedAt.getTime() >= CONDEMNED_HOURS * HOUR_MS ? 'remove' : 'nothing';
}
