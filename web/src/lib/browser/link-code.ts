/** A code that links to one path have behind `#`, as `#code=…`. */
export function linkCode(path: string) {
  let code = '';

  /** Takes the code out of the address bar and the history, and keeps it during a sign-in. */
  function keep(): void {
    if (location.pathname !== path || location.hash === '') return;
    code = new URLSearchParams(location.hash.slice(1)).get('code') ?? '';
    history.replaceState(null, '', path);
  }

  return {
    /** Reads the address now and whenever another link is followed. */
    start(): void {
      keep();
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
  };
}
