import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { go } from '../../lib/browser/router.ts';
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

/** In the tab's storage as well: the way to a page may be a full load. */
const requested = signal(storedInTab(KEY));

function request(what: PageRequest | null): void {
  storeInTab(KEY, what);
  requested.value = what;
}

/** Goes to the page and opens a dialog of it. */
export function openOnPage(href: string, what: PageRequest): void {
  request(what);
  if (location.pathname !== href) go(href);
}

/** Calls `open` when the palette wants the page's dialog. */
export function usePageRequest(what: PageRequest, open: () => void): void {
  const isRequested = requested.value === what;
  useEffect(() => {
    if (!isRequested) return;
    request(null);
    open();
  }, [isRequested]);
}
