import type { Clock } from '../../../ports/clock.ts';
import type { LoginThrottleRepository } from '../../../ports/identity/login-throttle-repository.ts';
import type { FactorState } from './totp-state.ts';

export function memoryThrottle(state: FactorState, clock: Clock): LoginThrottleRepository {
  const read = async (keys: readonly Buffer[]) => ({
    tallies: keys.map((key) => state.failures.get(key.toString('hex')) ?? null),
    now: clock.now(),
  });

  return {
    read,
    lock: read,
    async put(tallies) {
      for (const { key, tally } of tallies) state.failures.set(key.toString('hex'), tally);
    },
    async forget(keys) {
      for (const key of keys) state.failures.delete(key.toString('hex'));
    },
  };
}
