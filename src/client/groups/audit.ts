import { type Api, type CallOptions, dataOf, type ListQuery, type Schemas } from '../request/api.ts';
import { List } from '../request/pages.ts';
import type { Requester } from '../request/requester.ts';

export type AuditFilter = ListQuery<'/api/audit'>;
export type AuditFormat = 'csv' | 'ndjson';

const TYPES: Readonly<Record<AuditFormat, string>> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

type AuditPath = '/api/audit' | '/api/admin/audit';

/** Audit records, newest first: the caller's own, or all for administrators. */
export const auditOf = <P extends AuditPath>(api: Api, requester: Requester, path: P) => ({
  list: (filter: ListQuery<P> = {} as ListQuery<P>, options?: CallOptions) =>
    new List<Schemas['AuditRecord']>(async (page) => {
      const params = { query: { ...filter, ...page } };
      const answer = await dataOf(api.GET(path as '/api/audit', { params, ...options }));
      const { records, next_cursor } = answer as Schemas['AuditPage'];
      return { items: records, next: next_cursor };
    }),
  /** All records that match, as a file. */
  export: async (
    format: AuditFormat,
    filter: ListQuery<P> = {} as ListQuery<P>,
    { signal = null as AbortSignal | null } = {},
  ): Promise<Blob> => {
    const query = new URLSearchParams(filter as Record<string, string>);
    const headers = { accept: TYPES[format] };
    return await (await requester.send(`${path}?${query}`, { headers, signal, timeoutMs: null })).blob();
  },
});
