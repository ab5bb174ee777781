import { sql } from 'kysely';
import { AGENT_NODE } from '../../domain/containers/agents/agent.ts';
import type { InstallationRepository } from '../../ports/installation-repository.ts';
import type { Db } from './schema/database-schema.ts';
import { changedOne, firstAs, isAny, onlyAs, run } from './sql.ts';

/** The installation's id; null in a database whose first migration has not ended. */
export async function installationId(db: Db): Promise<string | null> {
  const tables = await sql<{ made: boolean }>`select to_regclass('installation') is not null as made`.execute(
    db,
  );
  return tables.rows[0]?.made === true ? await postgresInstallation(db).id() : null;
}

/** Whether the schema is new enough to record a Swarm. */
export async function canRecordSwarm(db: Db): Promise<boolean> {
  const { rows } = await sql`
    select from pg_attribute
    where attrelid = to_regclass('installation') and attname = 'swarm_id' and not attisdropped`.execute(db);
  return rows.length > 0;
}

/** The Swarm in the installation's row; none where the schema is older. */
export async function recordedSwarm(
  db: Db,
): Promise<{ readonly swarmId: string | null; readonly hasLeftSwarms: boolean }> {
  if (!(await canRecordSwarm(db))) return { swarmId: null, hasLeftSwarms: false };
  const installation = postgresInstallation(db);
  return { swarmId: await installation.swarmId(), hasLeftSwarms: await installation.hasLeftSwarms() };
}

export const postgresInstallation = (db: Db): InstallationRepository => ({
  ...swarmRecord(db),

  id: () =>
    db
      .selectFrom('installation')
      .select('id')
      .$call(onlyAs(({ id }) => id)),

  hasContainers: () =>
    db
      .selectFrom('containers')
      .select('db_id')
      .where('state', '<>', 'deleted')
      .where('node', '<>', AGENT_NODE)
      .limit(1)
      .$call(isAny),

  async setupRequired() {
    const admin = await db.selectFrom('users').select('id').where('role', '=', 'admin').executeTakeFirst();
    return admin === undefined;
  },

  setSetupCodeHash: (hash) =>
    db
      .updateTable('installation')
      .set({ setup_code_hash: hash })
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('users').select('id').where('role', '=', 'admin'))),
      )
      .$call(run),

  isSetupCode: (hash) =>
    db.selectFrom('installation').select('id').where('setup_code_hash', '=', hash).$call(isAny),

  spendSetupCode: (hash) =>
    db
      .updateTable('installation')
      .set({ setup_code_hash: null })
      .where('setup_code_hash', '=', hash)
      .$call(changedOne),
});

type SwarmRecord = Pick<InstallationRepository, 'swarmId' | 'hasLeftSwarms' | 'recordSwarm' | 'changeSwarm'>;

const swarmRecord = (db: Db): SwarmRecord => ({
  swarmId: () =>
    db
      .selectFrom('installation')
      .select('swarm_id')
      .$call(onlyAs(({ swarm_id }) => swarm_id)),

  hasLeftSwarms: () =>
    db
      .selectFrom('installation')
      .select('left_swarms')
      .$call(onlyAs(({ left_swarms }) => left_swarms)),

  recordSwarm: (id) =>
    db
      .updateTable('installation')
      .set(({ fn, val }) => ({ swarm_id: fn.coalesce('swarm_id', val(id)) }))
      .where('left_swarms', '=', false)
      .returning('swarm_id')
      .$call(firstAs(({ swarm_id }) => swarm_id)),

  changeSwarm: (id) =>
    db
      .updateTable('installation')
      .set({ swarm_id: id, left_swarms: id === null })
      .$call(run),
});
