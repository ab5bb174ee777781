import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Direction, Found } from '../../terminal/screen/search.ts';
import { IconButton } from '../../ui/button.tsx';
import { tooltip } from '../../ui/tooltip.tsx';
import type { TerminalController } from './controller/terminal-controller.ts';

function resultOf(text: string, found: Found | null): string {
  if (text === '' || found === null) return '';
  if (found.count === 0) return 'No results';
  return found.index < 0 ? `${found.count}+` : `${found.index + 1} of ${found.count}`;
}

type SearchBarProps = {
  readonly terminal: TerminalController;
  /** The field gets the focus whenever this changes. */
  readonly searches: number;
  readonly onClose: () => void;
};

/** Finds text in the output. Enter goes to older finds, Shift+Enter to newer ones, Escape closes. */
export function SearchBar({ terminal, searches, onClose }: SearchBarProps) {
  const [text, setText] = useState('');
  const [exact, setExact] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  // Before the next key arrives, which is text to find.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, [searches]);
  const find = (direction: Direction, what = text, caseSensitive = exact): void => {
    void terminal.screen.search.find(what, direction, caseSensitive);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter') find(event.shiftKey ? 'newer' : 'older');
    else return;
    event.preventDefault();
  };
  return (
    <search class="search-bar">
      <input
        ref={input}
        type="text"
        aria-label="Search the output"
        placeholder="Search"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          find('as_typed', event.currentTarget.value);
        }}
        onKeyDown={onKeyDown}
      />
      <span class="search-count" aria-live="polite">
        {resultOf(text, terminal.found.value)}
      </span>
      <button
        type="button"
        class="icon-button text"
        aria-pressed={exact}
        aria-label="Match capital letters"
        {...tooltip('Match capital letters')}
        onClick={() => {
          setExact(!exact);
          find('as_typed', text, !exact);
        }}
      >
        Aa
      </button>
      <IconButton icon="up" label="Older (Enter)" onClick={() => find('older')} />
      <IconButton icon="down" label="Newer (Shift+Enter)" onClick={() => find('newer')} />
      <IconButton icon="close" label="Close search (Esc)" onClick={onClose} />
    </search>
  );
}
