import type { RefObject } from 'preact';
import { singleKeys } from '../../../lib/browser/preferences.ts';
import { changeQuery, type ListQuery } from '../../../state/container-list.ts';
import { Choice } from '../../../ui/choice.tsx';
import { useFilterText } from '../../../ui/hooks/use-filter-text.ts';
import { SearchBox } from '../../../ui/search-box.tsx';

const STATES = [
  ['', 'All states'],
  ['running', 'Running or connected'],
  ['stopped', 'Stopped or disconnected'],
  ['failed', 'Failed'],
] as const;

type FilterProps = {
  readonly query: ListQuery;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly hidden: boolean;
};

/** Limits the list to a text and a state. */
export function ListFilter({ query, input, hidden }: FilterProps) {
  const [text, setText] = useFilterText(query.q, (q) => changeQuery({ q }));
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.isComposing) return;
    setText('');
    input.current?.blur();
  };
  return (
    <div class={hidden ? 'filters invisible' : 'filters'}>
      <Choice
        label="State"
        value={query.status}
        options={STATES}
        disabled={hidden}
        onChoice={(status) => changeQuery({ status })}
      />
      <SearchBox
        label="Filter containers"
        placeholder="Filter"
        value={text}
        onInput={setText}
        input={input}
        onKeyDown={onKeyDown}
        disabled={hidden}
      >
        {singleKeys.value && <kbd>/</kbd>}
      </SearchBox>
    </div>
  );
}
