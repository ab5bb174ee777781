import { coalesced } from '../../../concurrency/coalesce.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Service } from '../service.ts';

const LEASES_EVERY_MS = 5_000;
const RECONCILE_EVERY_MS = 30_000;
/** Most hints result from this process's own work, which a full pass would slow down. */
const HINT_REST_MS = 500;
/** After a long pass, as of many containers, hints wait this much longer than it took: passes are at most a quarter of the time. */
const REST_PER_PASS = 3;

/**
 * Renews leases and takes over abandoned work every 5 s; reconciles rows and engine every 30 s, and soon after the engine
 * hints at a change. One pass at a time: hints during a pass cause one more.
 */
export function reconcileLoop(log: Logger, monotonicMs = () => performance.now()) {
  let service: Service | null = null;
  let progressAtMs = monotonicMs();
  let passTookMs = 0;
  const noteProgress = (): void => {
    progressAtMs = monotonicMs();
  };
  const warn = (what: string) => (err: unknown) => log.warn({ err }, what);

  const pass = coalesced(async (): Promise<void> => {
    const startedAtMs = monotonicMs();
    await service?.reconcile(noteProgress).catch((error: unknown) => {
      // Readiness reports a silent engine, and its return causes a pass.
      if (!(error instanceof RuntimeUnavailable)) warn('could not reconcile')(error);
    });
    noteProgress();
    passTookMs = monotonicMs() - startedAtMs;
    service?.warmPool.soon();
  });
  let hinted: NodeJS.Timeout | null = null;
  const soon = (): void => {
    hinted ??= setTimeout(
      () => {
        hinted = null;
        void pass();
      },
      Math.max(HINT_REST_MS, REST_PER_PASS * passTookMs),
    );
  };
  const keepLeases = (): void => {
    const { renew, takeOver } = service?.operations ?? {};
    renew?.().then(takeOver).catch(warn('could not renew or take over operations'));
    service?.warmPool.renew().catch(warn('could not renew leases of the warm pool'));
  };
  return {
    /** Requests a pass after a hint of the engine. */
    soon,
    /** Time since a pass last progressed or ended; a missing engine ends it soon. */
    silenceMs: (): number => monotonicMs() - progressAtMs,
    /** Starts the passes. Returns their end, which waits for the present one. */
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
