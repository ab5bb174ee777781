/** Engine containers without a row. */
export interface OrphanRepository {
  /** When each was first seen, which is now if never before. Forgets all others. */
  remember(runtimeIds: readonly string[]): Promise<ReadonlyMap<string, Date>>;
}
