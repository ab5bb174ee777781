/** Kinds of ended items that are kept for a while, with their dependents. */
export const ENDED_KINDS = [
  'operations',
  'sessions',
  'shares',
  'containers',
  'snapshots',
  'announcements',
  'outages',
] as const;

export type EndedKind = (typeof ENDED_KINDS)[number];

/** Refresh tokens per session and batch: one session may have thousands. */
export const TOKENS_PER_SESSION = 25;

/** Ended items, kept for lists and investigations. */
export interface HistoryRepository {
  /**
   * Removes what ended more than `days` days ago, oldest first, at most `limit` of the kind: finished operations;
   * revoked or expired sessions, after their refresh tokens, of which at most `TOKENS_PER_SESSION` times `limit` go;
   * shares with their participants; rows of deleted containers, by the removal of their volume, with their dependents; those of removed snapshots of whose
   * image no container is made; announcements; outages.
   * Skips what another process is removing. Returns the number removed, refresh tokens included; 0 when none is left.
   */
  forget(kind: EndedKind, days: number, limit: number): Promise<number>;
}
