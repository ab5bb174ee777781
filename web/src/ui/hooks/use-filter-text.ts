import { useEffect, useRef, useState } from 'preact/hooks';

/** After this pause in typing the service is asked. */
const PAUSE_MS = 150;

/**
 * The text of a field that filters a list, and its setter. `query`: the text that the list is to match. `onPause`
 * receives the typed text, trimmed, when it is another one.
 */
export function useFilterText(
  query: string,
  onPause: (text: string) => void,
): readonly [text: string, setText: (text: string) => void] {
  const [text, setText] = useState(query);
  const asked = useRef(query);
  useEffect(() => {
    // why: a query of this field's own comes late, and must not undo what was typed since
    if (query !== asked.current) setText(query);
    asked.current = query;
  }, [query]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text.trim() === asked.current) return;
      asked.current = text.trim();
      onPause(asked.current);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return [text, setText];
}
