import type { SelectQueryBuilder } from 'kysely';
import { AGENT_NODE } from '../../../domain/containers/agents/agent.ts';
import type { ContainerRef } from '../../../domain/containers/container-ref.ts';
import type { Placeholders } from '../connection/compiled-once.ts';
import type { ContainersTable } from '../schema/container-tables.ts';
import type { Database } from '../schema/database-schema.ts';

type ContainerQuery = SelectQueryBuilder<Database & { c: ContainersTable }, 'c', unknown>;

export type RefValues = ReturnType<typeof refValues>;

/** Of a reference in a statement: exactly one is defined. */
export const refValues = (ref: ContainerRef) => ({
  dbId: ref.kind === 'db_id' ? ref.dbId : undefined,
  // The whole runtime id, or a prefix of at least 12 digits: `parseContainerRef` admits only hex.
  runtimeIds: ref.kind === 'runtime_id' ? `${ref.prefix}%` : undefined,
  agentId: ref.kind === 'agent' ? ref.agentId : undefined,
});

/** The rows of `query` that the reference means. */
export function byRef<Q extends { where: ContainerQuery['where'] }>(
  query: Q,
  { dbId, runtimeIds, agentId }: Placeholders<RefValues>,
): Q {
  if (dbId !== undefined) return query.where('c.db_id', '=', dbId) as unknown as Q;
  if (runtimeIds !== undefined) return query.where('c.runtime_id', 'like', runtimeIds) as unknown as Q;
  return query.where('c.db_id', '=', agentId ?? null).where('c.node', '=', AGENT_NODE) as unknown as Q;
}
