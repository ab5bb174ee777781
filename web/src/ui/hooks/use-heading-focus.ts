import { useEffect, useRef } from 'preact/hooks';

/**
 * For the heading of a page whose rows go away. It gets the focus when nothing has it: as the page opens, unless it begins
 * at its first link (`atStart` is false), and at each `recover`, for the caller after a row is gone. The page does not
 * scroll.
 */
export function useHeadingFocus({ atStart = true } = {}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const recover = (): void => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (atStart) recover();
  }, []);
  return { heading, recover };
}
