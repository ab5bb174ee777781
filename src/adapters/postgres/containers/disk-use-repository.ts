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

  claimDue: (seconds) =>
    db
      .updateTable('containers as c')
      .from('users as u')
      .whereRef('u.id', '=', 'c.owner_id')
      .set({ disk_measured_at: sql<Date>`now()` })
      .where('c.state', '=', 'running')
      .where('c.node', '<>', AGENT_NODE)
      .where(sql<boolean>`coalesce(c.disk_measured_at < now() - make_interval(secs => ${seconds}), true)`)
      .returningAll('c')
      .returning(ofOwner)
      .$call(allAs(toContainer)),
});
