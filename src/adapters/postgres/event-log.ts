import type { Kysely } from 'kysely';
import type { EventLog } from '../../ports/event-log.ts';
import type { Database } from './schema.ts';

export const postgresEvents = (db: Kysely<Database>): EventLog => ({
  async append({ type, dbId, ownerId, data }) {
    await db
      .insertInto('events')
      .values({ type, db_id: dbId, owner_id: ownerId, data: JSON.stringify(data) })
      .execute();
  },
});
