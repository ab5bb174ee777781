import type { Kysely } from 'kysely';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { Database } from './schema.ts';

export const postgresAudit = (db: Kysely<Database>): AuditLog => ({
  async append(entry) {
    await db
      .insertInto('audit_records')
      .values({
        user_id: entry.userId,
        action: entry.action,
        ip_address: entry.ipAddress,
        user_agent: entry.userAgent,
        details: entry.details,
      })
      .execute();
  },
});
