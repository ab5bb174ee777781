import { actRecords } from '../../audit/activity-records.ts';
import { containerUses } from '../../containers/lifetime/container-uses.ts';
import { publishOnCommit } from '../../events/publishing-storage.ts';
import { idempotency } from '../../idempotency.ts';
import { authenticator } from '../../identity/auth/authenticator.ts';
import { authorizedConnections } from '../../identity/auth/authorized-connections.ts';
import { requestLimits } from '../../identity/limits/request-limits.ts';
import { outputSlots } from '../../terminals/output/output-slots.ts';
import type { AllPorts, ComposeOptions } from '../compose-options.ts';

export type SharedServices = ReturnType<typeof sharedServices>;

/** What identity, containers and terminals share, one each in this process. */
export function sharedServices(
  ports: AllPorts,
  { logger: log, connections: { liveEveryMs: everyMs } }: ComposeOptions,
) {
  const { bus, clock, monotonicMs } = ports;
  const storage = publishOnCommit(ports.storage, bus);
  const { audit, requestCounts: counts } = storage.repositories;
  const signedIn = authenticator({ storage, bus, monotonicMs });
  return {
    storage,
    authenticator: signedIn,
    requestLimits: requestLimits({ counts, monotonicMs, startMs: clock.now().getTime() }),
    activityRecords: actRecords({ audit, monotonicMs }),
    authorizedConnections: authorizedConnections({
      bus,
      current: signedIn.current,
      log,
      monotonicMs,
      everyMs,
    }),
    idempotency: idempotency(storage.repositories),
    outputSlots: outputSlots(),
    containerUses: containerUses(storage.repositories, monotonicMs),
  };
}
