import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/**
 * Gives the focus to the page's heading when the element that had it is gone, such as a row with its buttons. The page does
 * not scroll.
 */
export function useFocusRecovery(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: { readonly element: Element; readonly path: string } | null = null;
    const onFocus = ({ target }: FocusEvent): void => {
      last = target instanceof Element ? { element: target, path: location.pathname } : null;
    };
    const recover = (): void => {
      if (last === null || last.element.isConnected) return;
      // why: another page begins at its first link
      const isSamePage = last.path === location.pathname;
      last = null;
      if (!isSamePage || document.activeElement !== document.body) return;
      const heading = main.current?.querySelector<HTMLElement>('h1[tabindex]');
      (heading ?? main.current)?.focus({ preventScroll: true });
    };
    const changes = new MutationObserver(recover);
    if (main.current) changes.observe(main.current, { childList: true, subtree: true });
    addEventListener('focusin', onFocus);
    return () => {
      changes.disconnect();
      removeEventListener('focusin', onFocus);
    };
  }, []);
}
