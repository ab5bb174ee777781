import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Audit } from '../../../../app/audit/audit-trail.ts';
import type { AuditRecord } from '../../../../domain/audit.ts';
import { operation } from '../../open-api/route-schema.ts';
import { paged, timesOf } from '../../pagination.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { AdminAuditQuery, AuditPage, AuditQuery, AuditRecordBody } from '../../schema/audit.ts';
import { joinRoutes, type Routes } from '../../server.ts';
import { type AbortGuard, abortWhenStalled } from '../../streamed-replies.ts';
import { type ExportFormat, exported, exportFormat } from './audit-export.ts';

const OWN = ['created_at', 'action', 'ip_address', 'user_agent', 'details', 'user_id', 'id'] as const;
const ALL = ['created_at', 'username', ...OWN.slice(1)] as const;

export type AuditRouteDeps = {
  readonly audit: Audit;
  readonly cutOffReading: AbortGuard;
  readonly cutOffAdmin: AbortGuard;
};

/** Pages as JSON; exports as CSV or NDJSON, which ignore cursor and limit. */
export const auditRoutes = (deps: AuditRouteDeps): Routes => joinRoutes(ownRoute(deps), allRoute(deps));

const ownRoute =
  ({ audit, cutOffReading }: AuditRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/audit',
      {
        exposeHeadRoute: false,
        ...operation('audit.list', 'List or export your audit records', {
          config: { scope: 'read', failure: 'failed to list audit records', lasting: 'downloads' },
          alsoAs: ['text/csv', 'application/x-ndjson'],
          querystring: AuditQuery,
          response: { 200: AuditPage },
        }),
      },
      async (request, reply) => {
        const { query, caller } = request;
        const format = exportFormat(request);
        if (format !== null) {
          cutOffReading(request, reply);
          const records = mapped(audit.exportOwn(filterOf(query), caller), ownBody);
          return sendFile(request, reply, records, format, OWN);
        }
        const { items, next } = await paged(query, (part) => audit.own(filterOf(query), part, caller));
        return { records: items.map(ownBody), next_cursor: next };
      },
    );
  };

const allRoute =
  ({ audit, cutOffAdmin }: AuditRouteDeps): Routes =>
  (http) => {
    http.get(
      '/api/admin/audit',
      {
        exposeHeadRoute: false,
        ...operation('adminAudit.list', 'List or export all audit records', {
          config: { scope: 'admin', failure: 'failed to list audit records', lasting: 'downloads' },
          alsoAs: ['text/csv', 'application/x-ndjson'],
          querystring: AdminAuditQuery,
          response: { 200: AuditPage },
        }),
      },
      async (request, reply) => {
        const { query, caller, origin } = request;
        const filter = { ...filterOf(query), ...(query.user === undefined ? {} : { user: query.user }) };
        const format = exportFormat(request);
        if (format !== null) {
          cutOffAdmin(request, reply);
          const records = mapped(await audit.exportAll(filter, caller, origin), namedBody);
          return sendFile(request, reply, records, format, ALL);
        }
        const { items, next } = await paged(query, (part) => audit.all(filter, part, caller, origin));
        return { records: items.map(namedBody), next_cursor: next };
      },
    );
  };

const filterOf = (query: AuditQuery) => ({
  ...timesOf(query, ['from', 'to']),
  ...(query.action === undefined ? {} : { action: query.action }),
});

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  records: AsyncIterable<AuditRecordBody>,
  format: ExportFormat,
  columns: readonly (keyof AuditRecordBody)[],
): FastifyReply {
  const { type, disposition, body } = exported(records, format, columns);
  abortWhenStalled(request);
  return reply.type(type).header('content-disposition', disposition).send(body);
}

async function* mapped<T, U>(all: AsyncIterable<T>, to: (one: T) => U): AsyncGenerator<U> {
  for await (const one of all) yield to(one);
}

const serializeRecord = bodyOf(AuditRecordBody);

const ownBody = ({ username: _, ...record }: AuditRecord) => serializeRecord(record);

// why: in an export the name comes last
const namedBody = (record: AuditRecord): AuditRecordBody => ({
  ...ownBody(record),
  username: record.username,
});
