/** What has ended and is kept for a while, for lists and for whoever looks into what happened. */
export interface History {
  /**
   * Removes what ended more than `days` days ago, oldest first and at most `limit` of each kind: finished operations;
   * sessions since they were revoked or expired, with their refresh tokens; shares with their participants; rows of
   * deleted containers since their volume is gone, with all that belongs to them. What another process is removing is
   * passed over. Answers how many of these there were in all.
   */
  forget(days: number, limit: number): Promise<number>;
}
