import type { Clock } from '../../ports/clock.ts';
import {
  type IdempotencyKeyStore,
  KEPT_HOURS,
  type KeyedRequest,
} from '../../ports/idempotency-key-store.ts';
import type { MemoryState } from './memory-state.ts';

type Entry = MemoryState['idempotencyKeys'][number];

export function memoryIdempotencyKeys(state: MemoryState, clock: Clock): IdempotencyKeyStore {
  const nowMs = (): number => clock.now().getTime();
  const same = (entry: Entry, { userId, route, key }: KeyedRequest): boolean =>
    entry.userId === userId && entry.route === route && entry.key === key;
  const change = (holder: string, to: Partial<Entry>): boolean => {
    const found = state.idempotencyKeys.find((one) => one.holder === holder && one.answer === null);
    if (found === undefined) return false;
    state.idempotencyKeys = state.idempotencyKeys.map((one) => (one === found ? { ...one, ...to } : one));
    return true;
  };
  return {
    async begin(request, bodyHash, holder, leaseSeconds) {
      const hash = bodyHash.toString('hex');
      const leaseUntilMs = nowMs() + leaseSeconds * 1000;
      const isOld = ({ createdAtMs }: Entry): boolean => nowMs() - createdAtMs >= KEPT_HOURS * 3_600_000;
      state.idempotencyKeys = state.idempotencyKeys.filter((one) => !isOld(one));
      const found = state.idempotencyKeys.find((one) => same(one, request));
      if (found === undefined) {
        const made = { hash, holder, leaseUntilMs, createdAtMs: nowMs(), subject: null, answer: null };
        state.idempotencyKeys.push({ ...request, ...made });
        return { kind: 'begun', subject: null };
      }
      const { subject, answer } = found;
      if (found.hash !== hash) return { kind: 'other_body' };
      if (answer !== null) return { kind: 'done', subject, answer };
      if (found.leaseUntilMs > nowMs()) return { kind: 'busy' };
      change(found.holder, { holder, leaseUntilMs });
      return { kind: 'begun', subject };
    },
    renew: async (holder, leaseSeconds) =>
      void change(holder, { leaseUntilMs: nowMs() + leaseSeconds * 1000 }),
    link: async (holder, subject) => change(holder, { subject }),
    finish: async (holder, answer) => change(holder, { answer }),
    async forget(holder) {
      state.idempotencyKeys = state.idempotencyKeys.filter(
        (one) => one.holder !== holder || one.answer !== null || one.subject !== null,
      );
      change(holder, { leaseUntilMs: nowMs() });
    },
  };
}
