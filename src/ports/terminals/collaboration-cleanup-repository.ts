/** Collaborations that are over and still need work. */
export interface CollaborationCleanupRepository {
  /** Ids of those no longer live but not ended. */
  overdue(): Promise<readonly string[]>;
  /** Ids of ended ones whose sessions may remain. */
  awaitingCleanUp(): Promise<readonly string[]>;
  markCleanedUp(id: string): Promise<void>;
  /** Users who ever took part in this one and may type in no other live one of its container. */
  leftovers(id: string): Promise<readonly string[]>;
}
