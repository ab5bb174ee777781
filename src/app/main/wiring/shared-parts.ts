import { actRecords } from '../../audit/activity-records.ts';
import { containerUses } from '../../containers/lifetime/container-uses.ts';
import { publishOnCommit } from '../../events/publishing-storage.ts';
import { idempotency } from '../../idempotency.ts';
import { authenticator } from '../../identity/auth/authenticator.ts';
import { authorizedConnections } from '../../identity/auth/authorized-connections.ts';
import { requestLimits } from '../../identity/limits/request-limits.ts';
import { outputSlots } from '../../terminals/output/output-slots.ts';
import type { ComposeOptions, Ports } from '../compose-options.ts';

export type SharedParts = ReturnType<typeof sharedParts>;

/** Parts shared by identity, containers and terminals, one each in this process. */
export function sharedParts(
  ports: Ports,
  { logger: log, connections: { liveEveryMs: everyMs } }: ComposeOptions,
) {
  const { bus, clock } = ports;
  const storage = publishOnCommit(ports.storage, bus);
  const { audit, requestCounts: counts } = storage.repositories;
  const monotonicMs = ports.monotonicMs ?? (() => performance.now());
  const auth = authenticator({ storage, bus, monotonicMs });
  return {
    storage,
    monotonicMs,
    auth,
    limits: requestLimits({ counts, monotonicMs, startMs: clock.now().getTime() }),
    acts: actRecords({ audit, monotonicMs }),
    live: authorizedConnections({ bus, current: auth.current, log, monotonicMs, everyMs }),
    keys: idempotency(storage.repositories),
    outputs: outputSlots(),
    uses: containerUses(storage.repositories, monotonicMs),
  };
}
