import {
  type Finding,
  findingsOf,
  type Outage,
  partsOf,
  type ReplicaReport,
  type ReplicaState,
  replicaState,
  replicasFinding,
} from '../../domain/service/health.ts';
import { COMPONENTS, type Component } from '../../domain/service/health-words.ts';
import type { Page, PageRequest } from '../../ports/pagination.ts';
import type { Storage } from '../../ports/storage.ts';

export type ComponentHealth = {
  readonly component: Component;
  readonly finding: Finding;
  /** Since when it is so; null when no change is on record. */
  readonly since: Date | null;
};

export type ReplicaHealth = ReplicaReport & { readonly state: ReplicaState };

export type Health = {
  readonly components: readonly ComponentHealth[];
  readonly replicas: readonly ReplicaHealth[];
};

export type HealthHistory = ReturnType<typeof healthHistory>;

const READY = { state: 'ready' } as const;

/** The health of the service now and before, as its processes recorded it. */
export const healthHistory = ({ repositories: { health } }: Storage) => ({
  /** Each component, from the newest reports; the answer itself shows that service and database are there. */
  async now(): Promise<Health> {
    const [{ now, reports }, latest] = await Promise.all([health.reports(), health.latest()]);
    const findings = new Map(findingsOf(reports, now)).set('replicas', replicasFinding(reports, now));
    return {
      components: COMPONENTS.map((component) => {
        const finding = findings.get(component) ?? READY;
        return { component, finding, since: sinceOf(finding, component, latest) };
      }),
      replicas: reports.map((report) => ({
        ...report,
        parts: partsOf(report),
        state: replicaState(report, now),
      })),
    };
  },

  /** Newest first. Throws `UnknownPage`. */
  outages: (component: Component | null, request: PageRequest): Promise<Page<Outage>> =>
    health.page(component, request),
});

function sinceOf(finding: Finding, component: Component, latest: readonly Outage[]): Date | null {
  const last = latest.find((outage) => outage.component === component);
  if (last === undefined) return null;
  if (finding.state === 'testing') return null;
  if (finding.state === 'ready') return last.to;
  return last.to === null ? last.from : null;
}
