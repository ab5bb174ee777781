import type { AuditOf } from '../../api/audit.ts';
import type { AuditRecord } from '../../api/types.ts';
import { detailsInWords } from '../../lib/format/audit-words.ts';
import { at } from '../../lib/format/format.ts';
import { browserOf } from '../../lib/format/user-agent.ts';

type RecordsProps = {
  readonly of: AuditOf;
  readonly records: readonly AuditRecord[];
  readonly busy: boolean;
};

/** Newest first. */
export function Records({ of, records, busy }: RecordsProps) {
  return (
    <table class="audit" aria-busy={busy}>
      <thead>
        <tr>
          <th scope="col">When</th>
          {of === 'all' && <th scope="col">Who</th>}
          <th scope="col">Action</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <tr key={record.id}>
            <td class="when">
              <time dateTime={record.created_at} title={record.created_at}>
                {at(record.created_at)}
              </time>
            </td>
            {of === 'all' && <Who record={record} />}
            <td class="what">
              <code class={isBad(record.action) ? 'bad' : ''}>{record.action}</code>
              {record.details !== '' && <span class="details">{detailsInWords(record)}</span>}
            </td>
            <td class="from">
              {record.ip_address || '—'}
              {record.user_agent !== '' && (
                <span class="agent" title={record.user_agent}>
                  {browserOf(record.user_agent)}
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Who({ record }: { record: AuditRecord }) {
  if (record.username) return <td title={record.user_id ?? ''}>{record.username}</td>;
  return <td class="nobody">{record.user_id === null ? 'nobody' : record.user_id}</td>;
}

const isBad = (action: string): boolean => action.endsWith('_failed');
