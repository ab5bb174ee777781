import { useEffect, useRef } from 'preact/hooks';
import { isHeld, keyActed } from '../../lib/browser/held-key.ts';
import { singleKeys } from '../../lib/browser/preferences.ts';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

const isElsewhere = (): boolean => document.querySelector('dialog[open], [role="menu"]') !== null;

/** Single keys of the page; not while typing, nor while a dialog or a menu is open. The user may switch characters off. */
export function useHotkeys(keys: Readonly<Record<string, () => void>>): void {
  const current = useRef(keys);
  current.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isHeld(event)) {
        event.preventDefault();
        return;
      }
      if (event.key.length === 1 && !singleKeys.peek()) return;
      if (isTyping(event.target) || isElsewhere()) return;
      const action = current.current[event.key];
      if (action === undefined) return;
      event.preventDefault();
      keyActed(event);
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
