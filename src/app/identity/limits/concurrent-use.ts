import type { DomainError } from '../../../domain/errors.ts';
import { type LastingUse, limitOf, type UseLimits } from '../../../domain/identity/use-limits.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';

const RETRY_AFTER_SECONDS = 5;

export type LastingUses = ReturnType<typeof lastingUses>;

/** Counts what users do at once in this process. */
export function lastingUses() {
  const counts = new Map<string, number>();

  return {
    /** Takes one of what the user may have at once; the value gives it back, however often it is called. */
    take(userId: string, use: LastingUse, limits: UseLimits): Result<() => void, DomainError> {
      const key = `${use} ${userId}`;
      const count = counts.get(key) ?? 0;
      if (count >= limitOf(use, limits)) {
        return refuse({ code: 'too_many_at_once', retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
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

    /** How many of all users last now. */
    count: (): number => [...counts.values()].reduce((sum, one) => sum + one, 0),
  };
}
