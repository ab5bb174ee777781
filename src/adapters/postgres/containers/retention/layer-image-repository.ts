import { sql } from 'kysely';
import type { LayerImageRepository } from '../../../../ports/containers/retention/layer-image-repository.ts';
import type { Db } from '../../schema/database-schema.ts';
import { setOf } from '../../sql.ts';

export const postgresLayerImages = (db: Db): LayerImageRepository => ({
  async find(dbId) {
    const row = await db
      .selectFrom('carried_images')
      .select(['image', 'changes'])
      .where('db_id', '=', dbId)
      .executeTakeFirst();
    return row ?? null;
  },

  async put(dbId, carried) {
    if (carried === null) {
      await db.deleteFrom('carried_images').where('db_id', '=', dbId).execute();
      return;
    }
    const { image } = carried;
    const changes = carried.changes === null ? null : JSON.stringify(carried.changes);
    await db
      .insertInto('carried_images')
      .values({ db_id: dbId, image, changes })
      .onConflict((conflict) =>
        conflict.column('db_id').doUpdateSet({ image, changes, captured_at: sql<Date>`now()` }),
      )
      .execute();
  },

  findDeleted: (ownerId) =>
    db
      .selectFrom('carried_images as i')
      .innerJoin('containers as c', 'c.db_id', 'i.db_id')
      .select('i.db_id')
      .where('c.owner_id', '=', ownerId)
      .where('c.state', '=', 'deleted')
      .$call(setOf((row) => row.db_id)),

  inUse: () =>
    db
      .selectFrom('carried_images')
      .select('image')
      .$call(setOf(({ image }) => image)),
});
