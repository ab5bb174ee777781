import type { Component, HealthReason } from './health-words.ts';

/** `testing`: no result yet, as after a start. */
export type HealthState = 'ready' | 'testing' | 'degraded' | 'down';

/** What a process knows of one of its parts. `mend`: the command or step that brings it back. */
export type PartState = {
  readonly status: HealthState;
  readonly detail: string;
  /** Why it is not ready; absent when it is not known. */
  readonly reason?: HealthReason;
  readonly mend?: string;
};

/** What a process finds of a component. */
export type Finding = { readonly state: HealthState } & (
  | { readonly state: 'ready' }
  | { readonly state: 'testing' }
  | {
      readonly state: 'degraded' | 'down';
      readonly reason: HealthReason;
      /** For administrators; null for none. */
      readonly detail: string | null;
    }
);

/** The components that every process finds out for itself. */
export const REPORTED = ['engine', 'image', 'disk', 'isolation'] as const satisfies readonly Component[];
export type ReportedComponent = (typeof REPORTED)[number];

export type ComponentReport = Finding & {
  readonly component: ReportedComponent;
  /** The step that brings it back; null for none. */
  readonly mend: string | null;
};

/** What a process last reported. */
export type ReplicaReport = {
  readonly replica: string;
  readonly startedAt: Date;
  /** Its heartbeat. */
  readonly seenAt: Date;
  /** null while it runs, and after a kill. */
  readonly stoppedAt: Date | null;
  /** Without those that it is testing. */
  readonly parts: readonly ComponentReport[];
};

/** A time in which a component was not ready, for one reason. */
export type Outage = {
  readonly id: string;
  readonly component: Component;
  readonly state: 'degraded' | 'down';
  readonly reason: HealthReason;
  readonly detail: string | null;
  readonly from: Date;
  /** null while it lasts. */
  readonly to: Date | null;
};

export type NewOutage = Omit<Outage, 'id'>;

/** A report that is older says nothing about now. */
export const REPORT_LIVES_SECONDS = 30;
/** A process without a heartbeat for so long has been killed. */
export const SILENT_AFTER_SECONDS = 60;
/** A killed process that does not return within a day is forgotten. */
export const FORGOTTEN_AFTER_SECONDS = 86_400;
/** A shorter time between two heartbeats is a restart, and no outage. */
export const SHORTEST_ABSENCE_SECONDS = 15;

export type ReplicaState = 'running' | 'silent' | 'stopped';

const ageSeconds = (then: Date, now: Date): number => (now.getTime() - then.getTime()) / 1_000;

export function replicaState({ seenAt, stoppedAt }: ReplicaReport, now: Date): ReplicaState {
  if (stoppedAt !== null) return 'stopped';
  return ageSeconds(seenAt, now) > SILENT_AFTER_SECONDS ? 'silent' : 'running';
}

/** Whether the process has reported lately, and has not stopped. */
export const isLive = ({ seenAt, stoppedAt }: ReplicaReport, now: Date): boolean =>
  stoppedAt === null && ageSeconds(seenAt, now) <= REPORT_LIVES_SECONDS;

/** What of its parts a process reports: older versions, which run on during an upgrade, do not know `testing`. */
export const reportedParts = (parts: readonly ComponentReport[]): readonly ComponentReport[] =>
  parts.filter(({ state }) => state !== 'testing');

/** The parts of a report, also those that its process is testing. */
export const partsOf = ({ parts }: ReplicaReport): readonly ComponentReport[] =>
  REPORTED.map(
    (component) =>
      parts.find((part) => part.component === component) ?? { component, state: 'testing', mend: null },
  );

/** Another process's result counts more than a test that has none yet. */
const SEVERITY = { testing: 0, ready: 1, degraded: 2, down: 3 } satisfies Readonly<
  Record<HealthState, number>
>;

/** The worst that the living processes report of each component; nothing without such a process. */
export function findingsOf(reports: readonly ReplicaReport[], now: Date): ReadonlyMap<Component, Finding> {
  const worst = new Map<Component, Finding>();
  for (const { component, mend: _, ...finding } of reports
    .filter((report) => isLive(report, now))
    .flatMap(partsOf)) {
    const known = worst.get(component);
    if (known === undefined || SEVERITY[finding.state] > SEVERITY[known.state]) worst.set(component, finding);
  }
  return worst;
}

/** Whether a process has been killed; asked by one that has long been able to see the heartbeats. */
export function replicasFinding(reports: readonly ReplicaReport[], now: Date): Finding {
  const silent = reports.filter((report) => replicaState(report, now) === 'silent');
  if (silent.length === 0) return { state: 'ready' };
  const names = silent.map(({ replica }) => replica).join(', ');
  return { state: 'degraded', reason: 'silent', detail: `no heartbeat of ${names}` };
}

/**
 * What to write so that the open outages agree with the findings. Components without a finding, and those being tested,
 * stay as they are.
 */
export function outageChanges(
  open: readonly Outage[],
  findings: ReadonlyMap<Component, Finding>,
): { readonly ended: readonly Outage[]; readonly begun: readonly Omit<NewOutage, 'from' | 'to'>[] } {
  const ended: Outage[] = [];
  const begun: Omit<NewOutage, 'from' | 'to'>[] = [];
  for (const [component, finding] of findings) {
    if (finding.state === 'testing') continue;
    const lasting = open.find((outage) => outage.component === component);
    if (finding.state === 'ready') {
      if (lasting !== undefined) ended.push(lasting);
      continue;
    }
    const { state, reason, detail } = finding;
    if (lasting?.state === state && lasting.reason === reason) continue;
    if (lasting !== undefined) ended.push(lasting);
    begun.push({ component, state, reason, detail });
  }
  return { ended, begun };
}

/**
 * The time without any process before one that started at `startedAt`; null when there was none worth a record. Only
 * the last heartbeat is known: the service ended a few seconds after it.
 */
export function absenceBefore(reports: readonly ReplicaReport[], startedAt: Date): NewOutage | null {
  const [last] = reports.toSorted((a, b) => b.seenAt.getTime() - a.seenAt.getTime());
  if (last === undefined || ageSeconds(last.seenAt, startedAt) < SHORTEST_ABSENCE_SECONDS) return null;
  const reason = last.stoppedAt === null ? 'not_running' : 'stopped';
  return {
    component: 'service',
    state: 'down',
    reason,
    detail: null,
    from: last.seenAt,
    to: startedAt,
  };
}
