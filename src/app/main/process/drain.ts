import { within } from '../../../concurrency/timeout.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { Service } from '../service.ts';

/** Time for answers being sent; followed logs never end by themselves. */
const DRAIN_MS = 5_000;
/** Time for requests in progress; the whole shutdown takes at most thirty seconds. */
const IN_FLIGHT_MS = 15_000;
const LAST_MS = 2_000;
const TIDY_EVERY_MS = 100;

/**
 * Refuses new requests, asks terminals to reconnect, and waits for requests and their operations: before anything else
 * stops, because they need their leases.
 */
export async function drain({ http, terminals, operations, agents, ...service }: Service): Promise<void> {
  const beganAtMs = performance.now();
  service.drain();
  terminals.closeEverything(CLOSE.serviceRestarting);
  service.closeEvents(CLOSE.serviceRestarting);
  agents.leave();
  service.ssh.close(CLOSE.serviceRestarting);
  // Clients keep a connection open that was busy at the close.
  const tidying = setInterval(() => http.server.closeIdleConnections(), TIDY_EVERY_MS);
  const patience = [
    setTimeout(service.cutOff, DRAIN_MS),
    setTimeout(() => endSockets(http), DRAIN_MS),
    setTimeout(() => http.server.closeAllConnections(), IN_FLIGHT_MS),
  ];
  await http.close();
  for (const timer of [tidying, ...patience]) clearTimeout(timer);
  // Longer work is left to its next owner; every step is repeatable.
  const work = [terminals.over(), terminals.idle(), operations.idle(), agents.idle(), service.ssh.over()];
  const ended = Promise.all(work);
  await within(IN_FLIGHT_MS - (performance.now() - beganAtMs), ended, null);
}

/** Aborts long-running work, then writes what is only in memory. */
export async function closeService({
  operations,
  recordings,
  warmPool,
  roleSetups,
  flush,
  noteStop,
}: Service): Promise<void> {
  await within(LAST_MS, Promise.all([operations.idle(), recordings.idle(), warmPool.stop()]), null);
  await Promise.all([roleSetups.close(), flush(), noteStop()]);
}

/** Sockets whose peer does not answer the close would be waited for long. */
function endSockets({ websocketServer }: Service['http']): void {
  for (const client of websocketServer.clients) client.terminate();
}
