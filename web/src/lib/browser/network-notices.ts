type Listener = {
  /** The page is visible, or the network is back, while the page is visible. */
  wake(): void;
  hidden?(): void;
  offline?(): void;
};

/** Follows what the browser says of the page and of the network, until the returned function is called. */
export function onNotices({ wake, hidden, offline }: Listener): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  const check = (): void => (document.visibilityState === 'visible' ? wake() : hidden?.());
  document.addEventListener('visibilitychange', check, { signal });
  addEventListener('online', check, { signal });
  addEventListener('offline', () => offline?.(), { signal });
  return () => stop.abort();
}
