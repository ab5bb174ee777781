import { authorized } from '../session/session.ts';
import type { AuditRecord } from './types.ts';

/** Whose records: one's own, or everybody's for administrators. */
export type AuditOf = 'own' | 'all';
/** As the query takes them; what is empty is left out. */
export type AuditFilter = { readonly [K in 'user' | 'action' | 'from' | 'to']?: string };
export type AuditPage = { readonly records: readonly AuditRecord[]; readonly next_cursor: string | null };
export type ExportFormat = 'csv' | 'ndjson';

const EXPORT_TIMEOUT_MS = 600_000;
const TYPES: Readonly<Record<ExportFormat, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

function address(of: AuditOf, query: Readonly<Record<string, string>>): string {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString();
  return `${of === 'own' ? '/api/audit' : '/api/admin/audit'}${given === '' ? '' : `?${given}`}`;
}

/** `cursor`: where the page before ended. */
export const listAudit = (of: AuditOf, filter: AuditFilter, cursor: string | null): Promise<AuditPage> =>
  authorized<AuditPage>(address(of, { ...filter, cursor: cursor ?? '' }));

/** Everything that the filter lets through, as a file. */
export const exportAudit = (of: AuditOf, filter: AuditFilter, format: ExportFormat): Promise<Blob> =>
  authorized<Blob>(address(of, { ...filter }), {
    headers: { accept: TYPES[format] },
    reads: 'file',
    timeoutMs: EXPORT_TIMEOUT_MS,
  });
