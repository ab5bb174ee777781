import { randomUUID } from 'node:crypto';
import { FORGOTTEN_AFTER_SECONDS, type Outage } from '../../../domain/service/health.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { HealthRepository } from '../../../ports/service/health-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { pageOf } from '../pagination.ts';

export function memoryHealth(state: MemoryState, clock: Clock): HealthRepository {
  const isRecent = ({ seenAt }: { readonly seenAt: Date }): boolean =>
    clock.now().getTime() - seenAt.getTime() < FORGOTTEN_AFTER_SECONDS * 1_000;
  const newestFirst = (): readonly Outage[] =>
    state.healthOutages.toReversed().toSorted((a, b) => b.from.getTime() - a.from.getTime());
  return {
    lock: async () => {},

    reports: async () => ({ now: clock.now(), reports: state.replicaReports }),

    async report(report) {
      const others = state.replicaReports.filter((one) => one.replica !== report.replica && isRecent(one));
      state.replicaReports = [...others, { ...report, seenAt: clock.now(), stoppedAt: null }];
    },

    async stopped(replica) {
      const now = clock.now();
      state.replicaReports = state.replicaReports.map((one) =>
        one.replica === replica ? { ...one, seenAt: now, stoppedAt: now } : one,
      );
    },

    async latest() {
      const all = newestFirst();
      return all.filter(
        (one, index) => all.findIndex(({ component }) => component === one.component) === index,
      );
    },

    async insert(outage) {
      const inserted = { ...outage, id: randomUUID() };
      state.healthOutages.push(inserted);
      return inserted;
    },

    async end(id, at) {
      const latest = (outage: Outage): Date =>
        new Date(Math.max(outage.to?.getTime() ?? 0, outage.from.getTime(), at.getTime()));
      state.healthOutages = state.healthOutages.map((one) =>
        one.id === id ? { ...one, to: latest(one) } : one,
      );
    },

    page: async (component, request) =>
      pageOf(
        newestFirst().filter((one) => component === null || one.component === component),
        request,
      ),
  };
}
