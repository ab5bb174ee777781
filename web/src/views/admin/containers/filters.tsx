import type { AdminContainerQuery } from '../../../api/admin.ts';
import { Button } from '../../../ui/button.tsx';
import { Choice } from '../../../ui/choice.tsx';
import { useFilterText } from '../../../ui/hooks/use-filter-text.ts';
import { SearchBox } from '../../../ui/search-box.tsx';

const DELETED = 'deleted';
const STATES = [
  ['', 'All states'],
  ['running', 'Running'],
  ['stopped', 'Stopped'],
  ['failed', 'Failed'],
  [DELETED, 'Deleted'],
] as const;

type FilterProps = {
  readonly query: AdminContainerQuery;
  readonly onChange: (change: Partial<AdminContainerQuery>) => void;
};

/** Limits the list to a text, a state and an owner. */
export function Filters({ query, onChange }: FilterProps) {
  const [text, setText] = useFilterText(query.q, (q) => onChange({ q }));
  const setState = (state: string): void =>
    onChange(state === DELETED ? { status: '', deleted: 'true' } : { status: state, deleted: '' });
  return (
    <div class="filters">
      <Choice
        label="State"
        value={query.deleted === '' ? query.status : DELETED}
        options={STATES}
        onChoice={setState}
      />
      <SearchBox
        label="Filter containers"
        placeholder="Name or owner"
        maxLength={200}
        value={text}
        onInput={setText}
      />
      {query.owner !== '' && (
        <Button icon="close" onClick={() => onChange({ owner: '' })}>
          Only {query.owner}
          <span class="visually-hidden"> (remove this filter)</span>
        </Button>
      )}
    </div>
  );
}
