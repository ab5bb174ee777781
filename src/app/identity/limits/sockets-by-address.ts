import type { DomainError } from '../../../domain/errors.ts';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { countsByKey } from './counts-by-key.ts';

const RETRY_AFTER_SECONDS = 30;

export type AddressSockets = ReturnType<typeof addressSockets>;

/** Counts open sockets per address in this process; for IPv6 per /64. */
export function addressSockets() {
  const counts = countsByKey();

  return {
    /** Takes one of `most`. The result releases it, idempotently. */
    take(ipAddress: string, most: number): Result<() => void, DomainError> {
      const release = counts.take(addressGroup(ipAddress), most);
      if (release !== null) return ok(release);
      return refuse({ code: 'address_full', retryAfterSeconds: RETRY_AFTER_SECONDS });
    },

    most: (): number => counts.all().reduce((most, count) => Math.max(most, count), 0),
  };
}
