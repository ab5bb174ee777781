import { getFile, getPage, withQuery } from './calls.ts';
import type { AuditRecord } from './types.ts';

/** Whose records: the user's own, or all of them for administrators. */
export type AuditOf = 'own' | 'all';
/** As the query takes them; what is empty is left out. */
export type AuditFilter = { readonly [K in 'user' | 'action' | 'from' | 'to']?: string };
export type ExportFormat = 'csv' | 'ndjson';

const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };
const PATHS: Readonly<Record<AuditOf, string>> = { own: '/api/audit', all: '/api/admin/audit' };

export const listAudit = (of: AuditOf, filter: AuditFilter, cursor: string | null) =>
  getPage<AuditRecord>(PATHS[of], 'records', { ...filter, cursor });

/** All records that match the filter, as a file. */
export const exportAudit = (of: AuditOf, filter: AuditFilter, format: ExportFormat) =>
  getFile(withQuery(PATHS[of], filter), { accept: TYPES[format] });
