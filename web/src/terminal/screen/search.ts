import type { SearchAddon } from '@xterm/addon-search';
import type { Terminal } from '@xterm/xterm';
import { isDark } from '../../lib/preferences.ts';
import { matchColours } from './themes.ts';

export type Found = { readonly index: number; readonly count: number };
export type Direction = 'next' | 'previous' | 'as_typed';

/** Search in what the terminal still holds; its code is loaded when first used. */
export type Search = {
  find(text: string, direction: Direction, caseSensitive: boolean): Promise<void>;
  clear(): void;
};

export function searchIn(terminal: Terminal, onFound: (found: Found | null) => void): Search {
  let addon: Promise<SearchAddon> | null = null;
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
      if (text === '') {
        search.clearDecorations();
        onFound(null);
        return;
      }
      const options = {
        caseSensitive,
        incremental: direction === 'as_typed',
        decorations: matchColours(isDark()),
      };
      if (direction === 'previous') search.findPrevious(text, options);
      else search.findNext(text, options);
    },
    clear() {
      void addon?.then((search) => search.clearDecorations());
      terminal.clearSelection();
    },
  };
}
