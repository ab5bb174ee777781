import { useState } from 'preact/hooks';
import { listUsage } from '../../../api/admin.ts';
import type { PersonUsage } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { ago, bytes, cpu, disk, memory } from '../../../lib/format/format.ts';
import { Button } from '../../../ui/button.tsx';
import { usePages } from '../../../ui/hooks/use-pages.ts';
import { LoadProblem } from '../../../ui/problem.tsx';
import { Loading, Section } from '../../../ui/section.tsx';

type Column = {
  readonly label: string;
  /** As the service sorts by it. */
  readonly field: string;
  /** The first direction: names rise, amounts fall. */
  readonly falls: boolean;
  readonly cell: (person: PersonUsage) => string;
};

/** Of the limits of the person's containers. */
const ofLimit = (one: PersonUsage, used: string, limit: string): string =>
  one.containers === 0 ? '–' : `${used} of ${limit}`;
const cores = (millicores: number): string => String(Number((millicores / 1000).toFixed(2)));
const known = (amount: number | null, format: (amount: number) => string): string =>
  amount === null ? '–' : format(amount);
const some = (amount: number, words: string): string => (amount === 0 ? '–' : words);
const amount = (label: string, field: string, cell: Column['cell']): Column => ({
  label,
  field,
  cell,
  falls: true,
});

const NAME: Column = { label: 'Person', field: 'username', falls: false, cell: ({ username }) => username };

const COLUMNS: readonly Column[] = [
  amount('Containers', 'containers', (one) => `${one.containers}/${one.max_containers}`),
  amount('CPU', 'cpu_used_millicores', (one) =>
    ofLimit(one, known(one.cpu_used_millicores, cores), cpu(one.cpu_millicores)),
  ),
  amount('Memory', 'memory_used_mb', (one) =>
    ofLimit(one, known(one.memory_used_mb, memory), memory(one.memory_mb)),
  ),
  amount('Disk', 'disk_used_mb', (one) => ofLimit(one, disk(one.disk_used_mb), disk(one.disk_mb))),
  amount('Kept', 'kept_mb', (one) => some(one.kept, `${one.kept} · ${disk(one.kept_mb)}`)),
  amount('Snapshots', 'snapshot_mb', (one) =>
    some(one.snapshots, `${one.snapshots} · ${disk(one.snapshot_mb)}`),
  ),
  amount('Recordings', 'recording_bytes', (one) =>
    some(one.recordings, `${one.recordings} · ${bytes(one.recording_bytes)}`),
  ),
  amount('Terminals', 'terminals', (one) => some(one.terminals, String(one.terminals))),
  amount('Tokens', 'tokens', (one) => some(one.tokens, String(one.tokens))),
  amount('Last seen', 'last_seen_at', ({ last_seen_at }) =>
    last_seen_at === null ? 'never' : ago(last_seen_at, now.value),
  ),
];

const ALL = [NAME, ...COLUMNS];

type Sorting = { readonly field: string; readonly falls: boolean };

const FIRST: Sorting = { field: 'disk_used_mb', falls: true };

/** What each person uses, sorted by any column. */
export function UsageByPerson() {
  const [sorting, setSorting] = useState(FIRST);
  const sort = `${sorting.falls ? '-' : ''}${sorting.field}`;
  const { value, failure, reload, more } = usePages(listUsage(sort), sort);
  const sortBy = ({ field, falls }: Column): void =>
    setSorting((before) => ({ field, falls: before.field === field ? !before.falls : falls }));
  return (
    <Section
      title="Usage by person"
      lead="What the containers of each person use, of their limits, and what else is stored."
    >
      <label class="usage-sort">
        Sort by{' '}
        <select
          class="choice"
          value={sorting.field}
          onChange={({ currentTarget: { value: field } }) => {
            const column = ALL.find((one) => one.field === field);
            if (column !== undefined) setSorting({ field, falls: column.falls });
          }}
        >
          {ALL.map(({ field, label }) => (
            <option key={field} value={field}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <LoadProblem of={{ failure, reload }} />
      {failure === null && value === null && <Loading />}
      {value !== null && <UsageTable people={value} sorting={sorting} onSort={sortBy} />}
      {more && (
        <div>
          <Button onClick={more}>Show more</Button>
        </div>
      )}
    </Section>
  );
}

type TableProps = {
  readonly people: readonly PersonUsage[];
  readonly sorting: Sorting;
  readonly onSort: (column: Column) => void;
};

function UsageTable({ people, sorting, onSort }: TableProps) {
  return (
    <div class="usage">
      <table>
        <thead>
          <tr>
            {ALL.map((column) => (
              <Heading key={column.field} column={column} sorting={sorting} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {people.map((person) => (
            <tr key={person.user_id}>
              <th scope="row">
                <a href={`/admin?search=${encodeURIComponent(person.username)}`}>{person.username}</a>
                <span class="person-sub">{person.tier}</span>
              </th>
              {COLUMNS.map(({ field, label, cell }) => (
                <td key={field} data-label={label}>
                  {cell(person)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type HeadingProps = Omit<TableProps, 'people'> & { readonly column: Column };

function Heading({ column, sorting, onSort }: HeadingProps) {
  const isSorted = sorting.field === column.field;
  const direction = sorting.falls ? ('descending' as const) : ('ascending' as const);
  return (
    <th scope="col" aria-sort={isSorted ? direction : undefined}>
      <button type="button" onClick={() => onSort(column)}>
        {column.label}
        <span aria-hidden="true">{isSorted ? (sorting.falls ? ' ↓' : ' ↑') : ''}</span>
      </button>
    </th>
  );
}
