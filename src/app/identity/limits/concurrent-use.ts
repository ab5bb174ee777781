import type { DomainError } from '../../../domain/errors.ts';
import { type LastingUse, limitOf, type UseLimits } from '../../../domain/identity/use-limits.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { countsByKey } from './counts-by-key.ts';

const RETRY_AFTER_SECONDS = 5;

export type ConcurrentUse = ReturnType<typeof concurrentUse>;

export function concurrentUse() {
  const counts = countsByKey();

  return {
    /** Takes one of the user's concurrent uses. The result releases it, idempotently. */
    take(userId: string, use: LastingUse, limits: UseLimits): Result<() => void, DomainError> {
      const release = counts.take(`${use} ${userId}`, limitOf(use, limits));
      if (release !== null) return ok(release);
      return refuse({ code: 'too_many_at_once', retryAfterSeconds: RETRY_AFTER_SECONDS });
    },

    count: (): number => counts.all().reduce((sum, one) => sum + one, 0),
  };
}
