import { Fragment } from 'preact';
import {
  type KnownNames,
  type Noun,
  nounText,
  type Sentence,
} from '../../../../src/client/audit/sentence.ts';
import { auditSentence, namesIn } from '../../../../src/client/audit/sentences.ts';
import type { AuditOf } from '../../api/audit.ts';
import { listContainers, listDeleted } from '../../api/containers/containers.ts';
import type { AuditRecord } from '../../api/types.ts';
import { type AuditEntry, auditDays } from '../../lib/audit-days.ts';
import { at, timeOfDay } from '../../lib/format/format.ts';
import { browserOf } from '../../lib/format/user-agent.ts';
import { me } from '../../state/profile.ts';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';
import { Icon } from '../../ui/icon.tsx';

type RecordsProps = {
  readonly of: AuditOf;
  readonly records: readonly AuditRecord[];
  readonly busy: boolean;
};

type Known = { readonly names: KnownNames; readonly linkOf: (noun: Noun) => string | null };

/** By day, newest first; each row is a sentence, with its raw records below when the reader opens them. */
export function Records({ of, records, busy }: RecordsProps) {
  const known = useKnown(of, records);
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

/** The names in the records and of the reader's containers, deleted ones too. */
function useKnown(of: AuditOf, records: readonly AuditRecord[]): Known {
  const own = useLoaded(listContainers).value ?? [];
  const deleted = useLoaded(listDeleted).value ?? [];
  const containers = [...deleted, ...own].map(({ db_id, name }) => [db_id, name] as const);
  const user = me.value === null ? [] : [[me.value.id, me.value.username] as const];
  return {
    names: new Map([...namesIn(records), ...user, ...containers]),
    linkOf: ({ kind, id }) => {
      if (kind === 'recording' && of === 'own') return `/recordings/${encodeURIComponent(id)}`;
      const isOpen = (kind === 'container' || kind === 'machine') && own.some(({ db_id }) => db_id === id);
      return isOpen ? `/containers/${encodeURIComponent(id)}` : null;
    },
  };
}

type RowProps = { readonly of: AuditOf; readonly entry: AuditEntry; readonly known: Known };

function Row({ of, entry: { records, sentence }, known }: RowProps) {
  const [record] = records;
  return (
    <tr class="record">
      <td class="when">
        <time dateTime={record.created_at} title={at(record.created_at)}>
          {timeOfDay(record.created_at)}
        </time>
      </td>
      {of === 'all' && <Who record={record} />}
      <td class="what">
        <span class={record.action.endsWith('_failed') ? 'bad' : ''}>
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

function Who({ record: { username, user_id } }: { record: AuditRecord }) {
  if (user_id === null) return <td class="who nobody">nobody</td>;
  const name = username || `user ${user_id.slice(0, 8)}`;
  return (
    <td class="who" title={`${name}, ${user_id}`}>
      {name}
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
      <summary title={isFolded ? undefined : 'The record'} aria-label={isFolded ? undefined : 'The record'}>
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
