import { type Selectable, sql } from 'kysely';
import type { Agent, AgentState } from '../../../../domain/containers/agents/agent.ts';
import type { AgentRepository } from '../../../../ports/containers/agents/agent-repository.ts';
import { fromColumns, toColumns } from '../../columns.ts';
import type { AgentsTable } from '../../schema/container-tables.ts';
import type { Db } from '../../schema/database-schema.ts';
import { allAs, COUNT, countOf, firstAs, run } from '../../sql.ts';

const NOW = sql<Date>`now()`;

const agents = (db: Db) => db.selectFrom('agents').selectAll();

export const postgresAgents = (db: Db): AgentRepository => ({
  findByMachine: (ownerId, machineId) =>
    agents(db)
      .where('owner_id', '=', ownerId)
      .where('machine_id', '=', machineId)
      .where('state', '<>', 'forgotten')
      .forUpdate()
      .$call(firstAs(toAgent)),

  find: (dbId) => agents(db).where('db_id', '=', dbId).$call(firstAs(toAgent)),

  findForUpdate: (dbId) => agents(db).where('db_id', '=', dbId).forUpdate().$call(firstAs(toAgent)),

  countLive: (ownerId) =>
    db
      .selectFrom('agents')
      .select(COUNT)
      .where('owner_id', '=', ownerId)
      .where('state', '<>', 'forgotten')
      .$call(countOf),

  async put(agent) {
    const { db_id, owner_id, machine_id, ...changes } = toRow(agent);
    await db
      .insertInto('agents')
      .values({ db_id, owner_id, machine_id, ...changes })
      .onConflict((conflict) =>
        conflict
          .column('db_id')
          .doUpdateSet(agent.state.kind === 'connected' ? { ...changes, last_seen_at: NOW } : changes),
      )
      .execute();
    // Its container's row is deleted in the same transaction, and never had a volume.
    if (agent.state.kind === 'forgotten') await withoutVolume(db, db_id);
  },

  async seen(replica, dbIds) {
    if (dbIds.length === 0) return;
    await db
      .updateTable('agents')
      .set({ last_seen_at: NOW })
      .where('replica', '=', replica)
      .where('db_id', '=', sql<string>`any(${[...dbIds].sort()}::uuid[])`)
      .execute();
  },

  connectedTo: (replica) => agents(db).where('replica', '=', replica).$call(allAs(toAgent)),

  unattended: (silentSeconds) =>
    agents(db)
      .where('replica', 'is not', null)
      .where('last_seen_at', '<', sql<Date>`now() - make_interval(secs => ${silentSeconds})`)
      .$call(allAs(toAgent)),
});

const withoutVolume = (db: Db, dbId: string): Promise<void> =>
  db
    .updateTable('containers')
    .set({ volume_purged_at: NOW, volume_claimed_at: NOW, volume_removed_at: NOW })
    .where('db_id', '=', dbId)
    .$call(run);

const agentColumns = toColumns('dbId ownerId machineId platform');

const toRow = ({ state, ...agent }: Agent) => ({
  ...agentColumns(agent),
  state: state.kind,
  epoch: state.epoch,
  replica: state.kind === 'connected' ? state.replica : null,
});

const agentFields = fromColumns('dbId ownerId machineId platform');

const toAgent = (row: Selectable<AgentsTable>): Agent => ({
  ...agentFields(row),
  // A constraint ties `replica` to the state.
  state: (row.state === 'connected'
    ? { kind: row.state, epoch: row.epoch, replica: row.replica }
    : { kind: row.state, epoch: row.epoch }) as AgentState,
});
