import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go, path } from '../../lib/browser/router.ts';
import { storedInTab, storeInTab } from '../../lib/browser/storage.ts';

/** A dialog that a page opens for the palette. */
export type PageRequest =
  | 'invitation'
  | 'token'
  | 'sign_out_others'
  | 'tiers'
  | 'images'
  | 'roles'
  | 'announcement';

const KEY = 'page-request';

/** `page dialog`. In the tab's storage as well: the way to a page may be a full load. */
const requested = signal(storedInTab(KEY));

function request(what: string | null): void {
  storeInTab(KEY, what);
  requested.value = what;
}

// why: a page that did not come must not open its dialog at a later visit
path.subscribe((now) => {
  if (requested.peek()?.startsWith(`${now} `) === false) request(null);
});

/** Goes to the page and opens a dialog of it. */
export function openOnPage(href: string, what: PageRequest): void {
  request(`${href} ${what}`);
  if (location.pathname !== href) go(href);
}

/** Calls `open` when the palette wants the page's dialog. */
export function usePageRequest(what: PageRequest, open: () => void): void {
  const isRequested = requested.value?.endsWith(` ${what}`) === true;
  useEffect(() => {
    if (!isRequested) return;
    request(null);
    open();
  }, [isRequested]);
}
