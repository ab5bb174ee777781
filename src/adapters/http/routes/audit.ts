import type { Audit } from '../../../app/audit.ts';
import type { AuditRecord } from '../../../domain/audit.ts';
import { paged, timesOf } from '../paging.ts';
import { AuditPage, AuditQuery, type AuditRecordBody } from '../schema/audit.ts';
import type { Routes } from '../server.ts';

export const auditRoutes =
  (audit: Audit): Routes =>
  (http) => {
    http.get(
      '/api/audit',
      {
        config: { scope: 'read', failure: 'failed to list audit records' },
        schema: { querystring: AuditQuery, response: { 200: AuditPage } },
      },
      async ({ query, caller }) => {
        const filter = {
          ...timesOf(query, ['from', 'to']),
          ...(query.action === undefined ? {} : { action: query.action }),
        };
        const { items, next } = await paged(query, (request) => audit.own(filter, request, caller));
        return { records: items.map(toBody), next_cursor: next };
      },
    );
  };

const toBody = (record: AuditRecord): AuditRecordBody => ({
  id: record.id,
  user_id: record.userId,
  action: record.action,
  ip_address: record.ipAddress,
  user_agent: record.userAgent,
  details: record.details,
  created_at: record.createdAt.toISOString(),
});
