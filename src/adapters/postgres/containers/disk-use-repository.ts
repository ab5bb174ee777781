import { sql } from 'kysely';
import { AGENT_NODE } from '../../../domain/containers/agents/agent.ts';
import type { DiskUseRepository } from '../../../ports/containers/disk-use-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { allAs } from '../sql.ts';
import { ofOwner, toContainer } from './container-repository.ts';

export const postgresDiskUse = (db: Db): DiskUseRepository => ({
  async record(dbId, { quota, usedMb, layerUsedMb }) {
    const set = { disk_quota: quota, disk_used_mb: usedMb, layer_used_mb: layerUsedMb };
    await db.updateTable('containers').set(set).where('db_id', '=', dbId).execute();
  },

  claimDue: (seconds, count) =>
    db
      .with('due', (query) =>
        query
          .selectFrom('containers')
          .select('db_id')
          .where('state', '=', 'running')
          .where('node', '<>', AGENT_NODE)
          .where(sql<boolean>`coalesce(disk_measured_at < now() - make_interval(secs => ${seconds}), true)`)
          .orderBy('disk_measured_at', (by) => by.asc().nullsFirst())
          .limit(count)
          .forNoKeyUpdate()
          .skipLocked(),
      )
      .updateTable('containers as c')
      .from(['users as u', 'due'])
      .whereRef('u.id', '=', 'c.owner_id')
      .whereRef('c.db_id', '=', 'due.db_id')
      .set({ disk_measured_at: sql<Date>`now()` })
      .returningAll('c')
      .returning(ofOwner)
      .$call(allAs(toContainer)),
});
