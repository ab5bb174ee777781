/** What an entry of the history keeps: how far its page is scrolled down, in px. */
type Entry = { readonly scrolledPx: number };

/** Browsers refuse an entry that changes too often. */
const SAVE_AFTER_MS = 250;
const SIGNS_OF_SCROLLING = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

export const AT_TOP: Entry = { scrolledPx: 0 };

let saving: ReturnType<typeof setTimeout> | undefined;
let restoring = new AbortController();

/** Keeps the offset of the present page in its entry. */
export function saveOffset(): void {
  clearTimeout(saving);
  const entry: Entry = { ...(history.state as object | null), scrolledPx: scrollY };
  history.replaceState(entry, '');
}

export function scrollToTop(): void {
  restoring.abort();
  scrollTo({ top: 0, behavior: 'instant' });
}

/** Scrolls to where the present entry was left, as soon as its page is long enough; not after the user has scrolled. */
export function restoreOffset(): void {
  clearTimeout(saving);
  restoring.abort();
  const { scrolledPx } = (history.state ?? {}) as Partial<Entry>;
  // why: the browser itself scrolls to the target of a link within the page
  if (scrolledPx === undefined) return;
  restoring = new AbortController();
  const { signal } = restoring;
  const observer = new ResizeObserver(() => {
    scrollTo({ top: scrolledPx, behavior: 'instant' });
    if (Math.abs(scrollY - scrolledPx) <= 1) restoring.abort();
  });
  signal.addEventListener('abort', () => observer.disconnect());
  for (const sign of SIGNS_OF_SCROLLING)
    addEventListener(sign, () => restoring.abort(), { signal, passive: true });
  observer.observe(document.documentElement);
}

/** Keeps the offset of each page while it is scrolled. */
export function startOffsets(): void {
  history.scrollRestoration = 'manual';
  addEventListener('scroll', () => {
    clearTimeout(saving);
    saving = setTimeout(saveOffset, SAVE_AFTER_MS);
  });
  restoreOffset();
}
