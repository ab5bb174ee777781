import type { InsertObject, Selectable } from 'kysely';
import type { AuditEntry, AuditRecord } from '../../domain/audit.ts';
import type { AuditLog } from '../../ports/audit-log.ts';
import { fromColumns, toColumns } from './columns.ts';
import { compiledOnce, type Placeholders } from './connection/compiled-once.ts';
import { pageAs } from './pagination.ts';
import type { AuditRecordsTable, Database, Db } from './schema/database-schema.ts';

export const postgresAudit = (db: Db): AuditLog => ({
  async append(...entries) {
    const [first, ...more] = entries.map(toRow);
    if (first === undefined) return;
    await (more.length === 0 ? insertOne(db, first) : insertAll(db, [first, ...more])).execute();
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

const insertAll = (db: Db, rows: readonly InsertObject<Database, 'audit_records'>[]) =>
  db
    .insertInto('audit_records')
    .values(rows)
    .onConflict((known) => known.column('id').doNothing());

const insertOne = compiledOnce((db, row: Placeholders<ReturnType<typeof toRow>>) => insertAll(db, [row]));

type Row = Selectable<AuditRecordsTable> & { readonly username: string | null };

const toRecord: (row: Row) => AuditRecord = fromColumns(
  'id userId action ipAddress userAgent details createdAt username',
);

export type ContentRow = Pick<
  Selectable<AuditRecordsTable>,
  'id' | 'user_id' | 'action' | 'ip_address' | 'user_agent' | 'details'
>;

const contentColumns = toColumns('userId action ipAddress userAgent details');

const toRow = ({ id, ...content }: AuditEntry) => ({ id, ...contentColumns(content) });

/** A record without its time. */
export const toContent = fromColumns('id userId action ipAddress userAgent details');
