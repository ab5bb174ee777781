import { coalesced } from '../../../concurrency/coalesce.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Service } from '../compose.ts';

const LEASES_EVERY_MS = 5_000;
const RECONCILE_EVERY_MS = 30_000;
/** Most hints come of what this process does itself, and a look at everything would only slow that down. */
const HINT_REST_MS = 500;

/**
 * Keeps leases and goes on with what others left every 5 s; makes rows and engine agree every 30 s, and whenever the
 * engine hints that something has changed. One pass at a time: hints during a pass make one more.
 */
export function reconcileLoop(log: Logger) {
  let service: Service | null = null;
  let progressAtMs = performance.now();
  const noteProgress = (): void => {
    progressAtMs = performance.now();
  };
  const warn = (what: string) => (err: unknown) => log.warn({ err }, what);

  const pass = coalesced(async (): Promise<void> => {
    await service?.reconcile(noteProgress).catch((error: unknown) => {
      // A silent engine is said by the readiness, and this comes again when it answers.
      if (!(error instanceof RuntimeUnavailable)) warn('could not reconcile')(error);
    });
    noteProgress();
    service?.warmPool.soon();
  });
  let hinted: NodeJS.Timeout | null = null;
  const soon = (): void => {
    hinted ??= setTimeout(() => {
      hinted = null;
      void pass();
    }, HINT_REST_MS);
  };
  const keepLeases = (): void => {
    const { renew, takeOver } = service?.operations ?? {};
    renew?.().then(takeOver).catch(warn('could not renew or take over operations'));
  };
  return {
    /** The engine hints that something has changed. */
    soon,
    /** Since a pass was seen to go on, or to end; an engine that is away ends it soon. */
    silenceMs: (): number => performance.now() - progressAtMs,
    /** Begins; answers what ends it, after the pass that is on its way. */
    start(started: Service): () => Promise<void> {
      service = started;
      void pass();
      const timers = [setInterval(keepLeases, LEASES_EVERY_MS), setInterval(pass, RECONCILE_EVERY_MS)];
      return async () => {
        for (const timer of timers) clearInterval(timer);
        clearTimeout(hinted ?? undefined);
        service = null;
        await pass();
      };
    },
  };
}
