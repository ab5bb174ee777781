import type { SearchAddon } from '@xterm/addon-search';
import type { Terminal } from '@xterm/xterm';
import { isDark } from '../../lib/browser/preferences.ts';
import { matchColours } from './themes.ts';

export type Found = { readonly index: number; readonly count: number };
export type Direction = 'older' | 'newer' | 'as_typed';

/** Search in what the terminal still holds; its code is loaded when first used. */
export type Search = {
  find(text: string, direction: Direction, caseSensitive: boolean): Promise<void>;
  clear(): void;
  /** Shows the matches in the colours of the present theme; the selection and the view stay. */
  recolour(): void;
};

export function searchIn(terminal: Terminal, onFound: (found: Found | null) => void): Search {
  let addon: Promise<SearchAddon> | null = null;
  let shown: { readonly text: string; readonly caseSensitive: boolean } | null = null;
  const load = async (): Promise<SearchAddon> => {
    const { SearchAddon } = await import('@xterm/addon-search');
    const search = new SearchAddon();
    terminal.loadAddon(search);
    search.onDidChangeResults(({ resultIndex, resultCount }) =>
      onFound({ index: resultIndex, count: resultCount }),
    );
    return search;
  };
  return {
    async find(text, direction, caseSensitive) {
      addon ??= load();
      const search = await addon;
      shown = text === '' ? null : { text, caseSensitive };
      if (shown === null) {
        search.clearDecorations();
        onFound(null);
        return;
      }
      const options = { caseSensitive, decorations: matchColours(isDark()) };
      // why: without a selection the search begins at the newest output
      if (direction === 'as_typed') terminal.clearSelection();
      if (direction === 'newer') search.findNext(text, options);
      else search.findPrevious(text, options);
    },
    clear() {
      shown = null;
      void addon?.then((search) => search.clearDecorations());
      terminal.clearSelection();
    },
    recolour() {
      void addon?.then((search) => {
        if (shown === null) return;
        const { text, ...options } = shown;
        const stay = holdView(terminal);
        search.clearDecorations();
        const decorations = matchColours(isDark());
        search.findPrevious(text, { ...options, decorations, incremental: true });
        stay();
      });
    },
  };
}

/** Returns what restores the present selection and view: a search selects its match and scrolls there. */
function holdView(terminal: Terminal): () => void {
  const { viewportY } = terminal.buffer.active;
  const selected = terminal.getSelectionPosition();
  return () => {
    terminal.scrollToLine(viewportY);
    if (selected === undefined) return terminal.clearSelection();
    const { start, end } = selected;
    terminal.select(start.x, start.y, (end.y - start.y) * terminal.cols + end.x - start.x);
  };
}
