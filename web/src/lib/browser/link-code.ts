import { storedInTab, storeInTab } from './storage.ts';

type Kept = { readonly key: string; readonly code: () => string };

const all: Kept[] = [];

/** Goes to another site that sends the browser back to this one. Codes of links outlast that in this tab. */
export function leaveFor(url: string): void {
  for (const { key, code } of all) storeInTab(key, code() || null);
  location.assign(url);
}

/** A code that links to one path have behind `#`, as `#code=…`. */
export function linkCode(path: string) {
  const key = `link_code.${path}`;
  let code = '';
  let kept = '';
  all.push({ key, code: () => code || kept });

  /** Takes the code out of the address bar and the history, and keeps it during a sign-in. */
  function keep(): void {
    if (location.pathname !== path || location.hash === '') return;
    code = new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
    history.replaceState(null, '', path);
  }

  return {
    /** Reads the address now and whenever another link is followed. */
    start(): void {
      code = storedInTab(key) ?? '';
      storeInTab(key, null);
      keep();
      // why: after "Back" the page goes on with what it has in memory
      addEventListener('pageshow', () => storeInTab(key, null));
      addEventListener('popstate', keep);
      addEventListener('hashchange', keep);
    },

    /** Whether a code waits to be taken. */
    waits: (): boolean => code !== '',

    /** The code of the newest link, once; empty when there is none. */
    take(): string {
      const taken = code;
      code = '';
      return taken;
    },

    /** Lets a code in use wait again if the browser leaves, until the returned function is called. */
    hold(inUse: string): () => void {
      kept = inUse;
      return () => {
        kept = '';
      };
    },
  };
}
