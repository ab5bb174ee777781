import type { DomainError } from '../../../domain/errors.ts';
import { addressGroup } from '../../../domain/identity/request-rate.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';

const RETRY_AFTER_SECONDS = 30;

export type AddressSockets = ReturnType<typeof addressSockets>;

/** Counts the open sockets of each address in this process, whoever has them; of IPv6 a /64 is one address. */
export function addressSockets() {
  const counts = new Map<string, number>();

  return {
    /** Takes one of `most`; the value gives it back, however often it is called. */
    take(ipAddress: string, most: number): Result<() => void, DomainError> {
      const key = addressGroup(ipAddress);
      const count = counts.get(key) ?? 0;
      if (count >= most) return refuse({ code: 'address_full', retryAfterSeconds: RETRY_AFTER_SECONDS });
      counts.set(key, count + 1);
      let isTaken = true;
      return ok(() => {
        if (!isTaken) return;
        isTaken = false;
        const left = (counts.get(key) ?? 1) - 1;
        if (left > 0) counts.set(key, left);
        else counts.delete(key);
      });
    },

    /** Of the address that has most. */
    most: (): number => [...counts.values()].reduce((most, count) => Math.max(most, count), 0),
  };
}
