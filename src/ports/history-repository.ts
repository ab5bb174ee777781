/** What has ended and is kept for a while; of each kind, what belongs to it goes with it. */
export const ENDED_KINDS = ['operations', 'sessions', 'shares', 'containers'] as const;

export type EndedKind = (typeof ENDED_KINDS)[number];

/** So many refresh tokens at a time for each session of the limit: one session alone may have thousands. */
export const TOKENS_PER_SESSION = 25;

/** What has ended and is kept for a while, for lists and for whoever looks into what happened. */
export interface HistoryRepository {
  /**
   * Removes what ended more than `days` days ago, oldest first and at most `limit` of its kind: finished operations;
   * sessions since they were revoked or expired, after their refresh tokens, of which at most `TOKENS_PER_SESSION` times
   * `limit` go; shares with their participants; rows of deleted containers since their volume is gone, with all that
   * belongs to them. What another process is removing is passed over. Answers how many went in all, refresh tokens
   * included; 0 when none is left.
   */
  forget(kind: EndedKind, days: number, limit: number): Promise<number>;
}
