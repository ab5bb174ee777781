/** Calls of the returned function while one is under way join it. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= work().finally(() => {
      running = null;
    });
    return running;
  };
}

/** Runs `work` while no other tab of this origin runs work of the same name, where the browser can do that. */
export async function acrossTabs<T>(name: string, work: () => Promise<T>): Promise<T> {
  // why: plain http on another host than localhost has no locks; the service then forgives a repeated refresh
  if (!('locks' in navigator)) return await work();
  return await navigator.locks.request(name, work);
}
