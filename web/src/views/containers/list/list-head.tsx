import { compactRows, switchRows } from '../../../lib/browser/preferences.ts';
import { store } from '../../../lib/browser/storage.ts';
import { changeQuery, type ListQuery } from '../../../state/container-list.ts';
import { IconButton } from '../../../ui/button.tsx';
import { useHotkeys } from '../../../ui/hooks/use-hotkeys.ts';
import { Icon } from '../../../ui/icon.tsx';

const COLUMNS = [
  { field: 'name', label: 'Name', class: 'head-name' },
  { field: 'status', label: 'State', class: 'head-status' },
  { field: '-cpu', label: 'CPU', class: 'head-cpu' },
  { field: '-memory', label: 'Memory', class: 'head-memory' },
  { field: '-disk', label: 'Space', class: 'head-space' },
  { field: '-last_used_at', label: 'Last used', class: 'head-when' },
] as const;

const fieldOf = (sort: string): string => sort.replace('-', '');
const reverse = (sort: string): string => (sort.startsWith('-') ? sort.slice(1) : `-${sort}`);

/** The headings of the list's columns. */
export function ListHead({ query }: { query: ListQuery }) {
  const sortBy = (sort: string): void => {
    store('list_sort', sort);
    changeQuery({ sort });
  };
  return <SortHead columns={COLUMNS} sort={query.sort} onSort={sortBy} />;
}

type SortHeadProps = {
  /** `field`: its first order; null where the list has none by it. */
  readonly columns: readonly {
    readonly field: string | null;
    readonly label: string;
    readonly class: string;
  }[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
};

/** Headings of columns, whose buttons sort by theirs, and the switch between tall and compact rows. */
export function SortHead({ columns, sort, onSort }: SortHeadProps) {
  useHotkeys({ c: switchRows });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would need fields
    <div class="rows-head" role="group" aria-label="Sort by">
      {columns.map(({ field, label, class: name }) =>
        field === null ? (
          <span key={label} class={name}>
            {label}
          </span>
        ) : (
          <Sorter key={label} field={field} label={label} name={name} sort={sort} onSort={onSort} />
        ),
      )}
      <IconButton
        icon="rows"
        label="Compact rows"
        keys="c"
        pressed={compactRows.value}
        onClick={switchRows}
      />
    </div>
  );
}

type SorterProps = {
  /** Its first order. */
  readonly field: string;
  readonly label: string;
  readonly name: string;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
};

function Sorter({ field, label, name, sort, onSort }: SorterProps) {
  const isCurrent = fieldOf(sort) === fieldOf(field);
  const isDown = sort.startsWith('-');
  return (
    <button
      type="button"
      class={`sorter ${name}`}
      aria-pressed={isCurrent}
      onClick={() => onSort(isCurrent ? reverse(sort) : field)}
    >
      {label}
      {isCurrent && (
        <>
          <Icon name={isDown ? 'down' : 'up'} size={14} />
          <span class="visually-hidden"> {isDown ? 'descending' : 'ascending'}</span>
        </>
      )}
    </button>
  );
}
