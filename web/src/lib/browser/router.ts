import { signal } from '@preact/signals';
import { AT_TOP, restoreOffset, saveOffset, scrollToTop, startOffsets } from './scroll-offset.ts';

/** The current path; components that read it follow it. */
export const path = signal(location.pathname);

/** `replace`: "Back" skips the page that is left. */
type How = { readonly replace?: boolean };

/** Another page starts at its top. */
export function navigate(to: string, how: How = {}): void {
  saveOffset();
  const isSamePage = new URL(to, location.href).pathname === location.pathname;
  const entry = isSamePage ? history.state : AT_TOP;
  if (how.replace) history.replaceState(entry, '', to);
  else history.pushState(entry, '', to);
  path.value = location.pathname;
  if (!isSamePage) scrollToTop();
}

/** As a click on a link there would. */
export function go(to: string, how: How = {}): void {
  if (!isApart(to) && !isApart(location.pathname)) navigate(to, how);
  else if (how.replace) location.replace(to);
  else location.assign(to);
}

/** Where to go after signing in: a path of this page, never another site. */
export function nextPath(): string {
  const next = new URLSearchParams(location.search).get('next') ?? '/';
  return /^\/(?![/\\])/.test(next) ? next : '/';
}

export const signInPath = (): string =>
  location.pathname === '/' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(location.pathname)}`;

/**
 * Pages that are documents of their own: playback, whose security policy allows what no other page needs, and the help.
 * The way there and back is a full page load.
 */
export const isApart = (to: string): boolean => /^\/(recordings\/.|help(\/|$))/.test(to);

const isPlainClick = (event: MouseEvent): boolean =>
  event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

/** Whether the link leads to another spot of the present page. */
const isWithin = ({ pathname, search, hash }: HTMLAnchorElement): boolean =>
  hash !== '' && pathname === location.pathname && search === location.search;

function followLink(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest?.('a[href]');
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || !isPlainClick(event)) return;
  if (link.origin !== location.origin || link.target !== '') return;
  if (isApart(link.pathname) || isApart(location.pathname) || isWithin(link)) return;
  event.preventDefault();
  if (link.href !== location.href) navigate(link.pathname + link.search);
}

/** Plain links change the view without loading the page again. */
export function startRouter(): void {
  startOffsets();
  addEventListener('popstate', () => {
    path.value = location.pathname;
    restoreOffset();
  });
  document.addEventListener('click', followLink);
}
