import { useEffect, useRef } from 'preact/hooks';

/**
 * For the heading of a page whose rows go away. It gets the focus when nothing has it: as the page opens, and at each
 * `recover`, for the caller after a row is gone. The page does not scroll.
 */
export function useHeadingFocus() {
  const heading = useRef<HTMLHeadingElement>(null);
  const recover = (): void => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  };
  useEffect(recover, []);
  return { heading, recover };
}
