import { useEffect, useRef } from 'preact/hooks';

/** For the heading of a page whose rows go away. It gets the focus as the page opens, when nothing has it. */
export function useHeadingFocus() {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) heading.current?.focus({ preventScroll: true });
  }, []);
  return heading;
}
