import { type Selectable, sql } from 'kysely';
import type { Announcement } from '../../../domain/service/announcement.ts';
import type { AnnouncementRepository } from '../../../ports/service/announcement-repository.ts';
import { fromColumns, toColumns } from '../columns.ts';
import type { Db } from '../schema/database-schema.ts';
import type { AnnouncementsTable } from '../schema/service-tables.ts';
import { allAs, COUNT, changedOne, clockNow, countOf, firstAs } from '../sql.ts';

export const postgresAnnouncements = (db: Db): AnnouncementRepository => ({
  list: () =>
    db
      .selectFrom('announcements')
      .selectAll()
      .orderBy('starts_at', 'desc')
      .orderBy('id')
      .$call(allAs(toAnnouncement)),

  findForUpdate: (id) =>
    db
      .selectFrom('announcements')
      .selectAll()
      .where('id', '=', id)
      .forUpdate()
      .$call(firstAs(toAnnouncement)),

  async insert(draft, most) {
    // why: a count beside another insert would not see its row
    await sql`lock table announcements in share row exclusive mode`.execute(db);
    if ((await db.selectFrom('announcements').select(COUNT).$call(countOf)) >= most) return null;
    return await db
      .insertInto('announcements')
      .values(announcementColumns(draft))
      .returningAll()
      .$call(firstAs(toAnnouncement));
  },

  update: (id, draft) =>
    db
      .updateTable('announcements')
      .set({ ...announcementColumns(draft), updated_at: clockNow })
      .where('id', '=', id)
      .returningAll()
      .$call(firstAs(toAnnouncement)),

  delete: (id) => db.deleteFrom('announcements').where('id', '=', id).$call(changedOne),
});

const announcementColumns = toColumns('text severity startsAt endsAt');

const toAnnouncement: (row: Selectable<AnnouncementsTable>) => Announcement = fromColumns(
  'id text severity startsAt endsAt createdAt updatedAt',
);
