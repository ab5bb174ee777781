import { Fragment } from 'preact';
import { isFailedAction } from '../../../../src/client/audit/action-labels.ts';
import { type Noun, nounText, type Sentence } from '../../../../src/client/audit/sentence.ts';
import { auditSentence } from '../../../../src/client/audit/sentences.ts';
import type { AuditOf } from '../../api/audit.ts';
import type { AuditRecord } from '../../api/types.ts';
import { type AuditEntry, auditDays } from '../../lib/audit-days.ts';
import { auditIcon } from '../../lib/audit-icons.ts';
import { at, timeOfDay } from '../../lib/format/format.ts';
import { browserOf } from '../../lib/format/user-agent.ts';
import { Icon } from '../../ui/icon.tsx';
import { tooltip } from '../../ui/tooltip.tsx';
import type { Known } from './use-known.ts';

type RecordsProps = {
  readonly of: AuditOf;
  readonly records: readonly AuditRecord[];
  readonly known: Known;
  readonly busy: boolean;
};

/** By day, newest first; each row is a sentence, with its raw records below when the reader opens them. */
export function Records({ of, records, known, busy }: RecordsProps) {
  const columns = of === 'all' ? ['When', 'Who', 'What', 'From'] : ['When', 'What', 'From'];
  return (
    <table class="audit" aria-busy={busy}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col" class={`column-${name.toLowerCase()}`}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {auditDays(records).map(({ day, entries }) => (
        <tbody key={day}>
          <tr class="day">
            <th scope="rowgroup" colSpan={columns.length}>
              {day}
            </th>
          </tr>
          {entries.map((entry) => (
            <Row key={entry.records[0].id} of={of} entry={entry} known={known} />
          ))}
        </tbody>
      ))}
    </table>
  );
}

type RowProps = { readonly of: AuditOf; readonly entry: AuditEntry; readonly known: Known };

function Row({ of, entry: { records, sentence }, known }: RowProps) {
  const [record] = records;
  const icon = auditIcon(record.action);
  const isFailed = isFailedAction(record.action);
  return (
    <tr class={isFailed ? 'record failed' : 'record'}>
      <td class="when">
        <time dateTime={record.created_at} title={at(record.created_at)}>
          {timeOfDay(record.created_at)}
        </time>
      </td>
      {of === 'all' && <Who record={record} known={known} />}
      <td class="what">
        {icon !== null && <Icon name={icon} />}
        <span class={isFailed ? 'bad' : ''}>
          <Words of={sentence} known={known} />
        </span>
        <Raw records={records} known={known} />
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
  );
}

type WhoProps = { readonly record: AuditRecord; readonly known: Known };

function Who({ record: { username, user_id }, known }: WhoProps) {
  if (user_id === null) return <td class="who nobody">nobody</td>;
  const name = username || `user ${user_id.slice(0, 8)}`;
  const link = username ? known.linkOf({ kind: 'user', id: user_id, name }) : null;
  return (
    <td class="who" title={`${name}, ${user_id}`}>
      {link === null ? name : <a href={link}>{name}</a>}
    </td>
  );
}

function Words({ of, known }: { of: Sentence; known: Known }) {
  return of.map((part, index) => (
    <Fragment key={index}>{typeof part === 'string' ? part : <Name of={part} known={known} />}</Fragment>
  ));
}

function Name({ of: noun, known: { names, linkOf } }: { of: Noun; known: Known }) {
  const text = nounText(noun, names);
  const title = noun.id || undefined;
  const link = linkOf(noun);
  if (link === null) return <b title={title}>{text}</b>;
  return (
    <a href={link} title={title}>
      {text}
    </a>
  );
}

/** The records as the service sent them. */
function Raw({ records, known }: { records: AuditEntry['records']; known: Known }) {
  const isFolded = records.length > 1;
  return (
    <details>
      <summary aria-label={isFolded ? undefined : 'The record'} {...(isFolded ? {} : tooltip('The record'))}>
        {isFolded && <span>{records.length} records</span>}
        <Icon name="down" size={14} />
      </summary>
      <ul class="raw">
        {records.map((record) => (
          <li key={record.id}>
            {isFolded && (
              <p>
                {timeOfDay(record.created_at)} <Words of={auditSentence(record)} known={known} />
              </p>
            )}
            <code>{record.action}</code>
            <pre>{JSON.stringify(record, null, 2)}</pre>
          </li>
        ))}
      </ul>
    </details>
  );
}
