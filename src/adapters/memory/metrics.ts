import type { Metrics } from '../../ports/metrics.ts';

/** Counts only bytes. */
export const noMetrics = (): Metrics => ({
  httpRoute: () => () => {},
  authenticated: () => {},
  stepDone: () => {},
  engineCalled: () => {},
  engineWaited: () => {},
  eventSent: () => {},
  healthFound: () => {},
  terminalBytes: { in: 0, out: 0 },
  watch: () => {},
  text: async () => ({ type: 'text/plain; charset=utf-8', body: '' }),
});
