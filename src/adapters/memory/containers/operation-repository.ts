import type { Clock } from '../../../ports/clock.ts';
import type { OperationRepository, Progress } from '../../../ports/containers/operation-repository.ts';
import type { MemoryState } from '../memory-state.ts';

type Entry = MemoryState['operations'][number];

export function memoryOperations(state: MemoryState, clock: Clock): OperationRepository {
  const active = (dbId: string) => state.operations.find((one) => one.dbId === dbId && one.outcome === null);
  const leaseEnd = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000);

  const change = (which: (entry: Entry) => boolean, to: Partial<Entry>): Entry[] => {
    const hit = state.operations.filter((entry) => entry.outcome === null && which(entry));
    state.operations = state.operations.map((entry) => (hit.includes(entry) ? { ...entry, ...to } : entry));
    return hit;
  };
  const mine = (id: string, owner: string) => (entry: Entry) => entry.id === id && entry.leaseOwner === owner;

  /** For writes that must not affect a committed one. */
  const uncommitted = (id: string, owner: string) => (entry: Entry) =>
    mine(id, owner)(entry) && entry.phase !== 'committed';

  return {
    async begin(operation, leaseSeconds) {
      if (active(operation.dbId) !== undefined) return false;
      state.operations.push({
        ...operation,
        outcome: null,
        leaseUntil: leaseEnd(leaseSeconds),
        finishedAt: null,
      });
      return true;
    },
    find: async (id) => state.operations.find((one) => one.id === id) ?? null,
    active: async (dbId) => active(dbId) ?? null,
    busy: async () => new Set(state.operations.filter((one) => one.outcome === null).map((one) => one.dbId)),
    isPausing: async (runtimeId) =>
      state.operations.some(
        ({ outcome, snapshot, before }) =>
          outcome === null && snapshot?.hasPaused === true && before.runtimeId === runtimeId,
      ),
    async record(id, owner, { step: _, ...progress }: Progress) {
      const staysCommitted = (progress.phase ?? 'committed') === 'committed';
      return change((staysCommitted ? mine : uncommitted)(id, owner), progress).length === 1;
    },
    async finish(id, owner, outcome, { step: _, ...progress }: Progress = {}) {
      const which = (outcome === 'failed' ? uncommitted : mine)(id, owner);
      return change(which, { ...progress, outcome, finishedAt: clock.now() }).length === 1;
    },
    renew: async (owner, ids, leaseSeconds) =>
      void change((entry) => entry.leaseOwner === owner && ids.includes(entry.id), {
        leaseUntil: leaseEnd(leaseSeconds),
      }),
    release: async (id, owner, leaseNumber) =>
      void change((entry) => mine(id, owner)(entry) && entry.leaseNumber === leaseNumber, {
        leaseUntil: clock.now(),
      }),
    async takeOver(owner, leaseSeconds, own) {
      const now = clock.now();
      const taken = change((entry) => entry.leaseUntil <= now || (own && entry.leaseOwner === owner), {
        leaseOwner: owner,
        leaseUntil: leaseEnd(leaseSeconds),
      }).map((entry) => ({ ...entry, leaseOwner: owner, leaseNumber: entry.leaseNumber + 1 }));
      for (const { id, leaseNumber } of taken) change((entry) => entry.id === id, { leaseNumber });
      return taken;
    },
  };
}
