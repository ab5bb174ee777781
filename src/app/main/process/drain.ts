import { within } from '../../../concurrency/timeout.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { Service } from '../compose.ts';

/** What is being sent may take so long to end; a log that is followed never does. */
const DRAIN_MS = 5_000;
/** Requests in flight may take so long to end, so that the rest has its time: the whole stop takes thirty seconds at most. */
const IN_FLIGHT_MS = 15_000;
const LAST_MS = 2_000;
const TIDY_EVERY_MS = 100;

/**
 * Nothing new comes in, terminals are told to come back, requests in flight and the operations behind them end: before
 * anything else stops, as they need their leases.
 */
export async function drain({ http, terminals, operations, ...service }: Service): Promise<void> {
  const beganAtMs = performance.now();
  service.drain();
  terminals.closeEverything(CLOSE.serviceRestarting);
  service.closeEvents(CLOSE.serviceRestarting);
  // A connection that was busy at the close is kept open by its client afterwards.
  const tidying = setInterval(() => http.server.closeIdleConnections(), TIDY_EVERY_MS);
  const patience = [
    setTimeout(service.cutOff, DRAIN_MS),
    setTimeout(() => endSockets(http), DRAIN_MS),
    setTimeout(() => http.server.closeAllConnections(), IN_FLIGHT_MS),
  ];
  await http.close();
  for (const timer of [tidying, ...patience]) clearTimeout(timer);
  // What takes longer is left to whoever takes it over: every step of it can be done again.
  const ended = Promise.all([terminals.over(), terminals.idle(), operations.idle()]);
  await within(IN_FLIGHT_MS - (performance.now() - beganAtMs), ended, null);
}

/** What still goes on by itself ends, then what is still in memory is written. */
export async function closeService({
  operations,
  recordings,
  warmPool,
  roleSetups,
  flush,
}: Service): Promise<void> {
  await within(LAST_MS, Promise.all([operations.idle(), recordings.idle(), warmPool.stop()]), null);
  await Promise.all([roleSetups.close(), flush()]);
}

/** Those whose other side does not answer the close; a close waits for it for long. */
function endSockets({ websocketServer }: Service['http']): void {
  for (const client of websocketServer.clients) client.terminate();
}
