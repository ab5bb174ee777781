import type { Selectable } from 'kysely';
import type { AuditRecord } from '../../domain/audit.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import { fromColumns, toColumns } from './columns.ts';
import { pageAs } from './pagination.ts';
import type { AuditRecordsTable, Db } from './schema/database-schema.ts';

export const postgresAudit = (db: Db): AuditLog => ({
  async append(...entries) {
    if (entries.length === 0) return;
    const rows = entries.map(({ id, ...content }) => ({
      ...(id === undefined ? {} : { id }),
      ...contentColumns(content),
    }));
    await db
      .insertInto('audit_records')
      .values(rows)
      .onConflict((known) => known.column('id').doNothing())
      .execute();
  },

  page: ({ userId, action, from, to }, request) =>
    db
      .selectFrom('audit_records')
      .leftJoin('users', 'users.id', 'audit_records.user_id')
      .selectAll('audit_records')
      .select('users.username')
      .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? ''))
      .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
      .$if(from !== undefined, (query) => query.where('audit_records.created_at', '>=', from ?? new Date(0)))
      .$if(to !== undefined, (query) => query.where('audit_records.created_at', '<', to ?? new Date(0)))
      .$call(pageAs('audit_records', request, toRecord)),
});

type Row = Selectable<AuditRecordsTable> & { readonly username: string | null };

const toRecord: (row: Row) => AuditRecord = fromColumns(
  'id userId action ipAddress userAgent details createdAt username',
);

export type ContentRow = Pick<
  Selectable<AuditRecordsTable>,
  'id' | 'user_id' | 'action' | 'ip_address' | 'user_agent' | 'details'
>;

const contentColumns = toColumns('userId action ipAddress userAgent details');

/** A record without its time. */
export const toContent = fromColumns('id userId action ipAddress userAgent details');
