import { healthEvent } from '../../domain/events.ts';
import {
  absenceBefore,
  type ComponentReport,
  findingsOf,
  type NewOutage,
  type Outage,
  outageChanges,
  type PartState,
  REPORTED,
  type ReplicaReport,
  type ReportedComponent,
  replicasFinding,
  reportedParts,
  SILENT_AFTER_SECONDS,
} from '../../domain/service/health.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Repositories, Storage } from '../../ports/storage.ts';

export type RecordHealthDeps = {
  readonly storage: Storage;
  readonly replica: string;
  readonly readiness: () => Promise<{
    readonly parts: Readonly<Record<ReportedComponent | 'database', PartState>>;
  }>;
  readonly monotonicMs: () => number;
  readonly metrics: Pick<Metrics, 'healthFound'>;
};

/** Monotonic times of this process, in milliseconds. */
type Known = {
  readonly startedMs: number;
  /** Since when the database does not answer; null while it does. */
  lostMs: number | null;
  /** Since when each pass has been written; null before the first one. */
  writtenSinceMs: number | null;
  isFirst: boolean;
};

/**
 * Records what this process finds, for a timer: its own report, and the outages that follow from all reports, once
 * however many processes record. An outage of the database is written when it is over.
 */
export function recordHealth({ storage, replica, readiness, monotonicMs, metrics }: RecordHealthDeps) {
  const known: Known = { startedMs: monotonicMs(), lostMs: null, writtenSinceMs: null, isFirst: true };

  return {
    async pass(): Promise<void> {
      const askedMs = monotonicMs();
      const { parts } = await readiness();
      // Without the database nobody knows what other processes find.
      const publishOwn = (database: PartState['status']): void => {
        const own = REPORTED.map((component) => ({ component, state: parts[component].status }));
        metrics.healthFound([{ component: 'database', state: database }, ...own]);
      };
      if (parts.database.status !== 'ready') {
        publishOwn(parts.database.status);
        known.lostMs ??= askedMs;
        known.writtenSinceMs = null;
        return;
      }
      const reports = REPORTED.map((component) => reportOf(component, parts[component]));
      const pass = { replica, reports, known, nowMs: monotonicMs() };
      const findings = await storage
        .inTransaction((tx) => record(tx, pass))
        .catch((error: unknown) => {
          publishOwn('down');
          throw error;
        });
      metrics.healthFound([
        { component: 'database', state: 'ready' },
        ...[...findings].map(([component, { state }]) => ({ component, state })),
      ]);
      known.lostMs = null;
      known.writtenSinceMs ??= askedMs;
      known.isFirst = false;
    },

    /** This process ends on purpose. Without a database the next start takes it for killed. */
    stopped: (): Promise<void> => storage.repositories.health.stopped(replica).catch(() => {}),
  };
}

function reportOf(
  component: ReportedComponent,
  { status, detail, reason, mend }: PartState,
): ComponentReport {
  if (status === 'ready' || status === 'testing') return { component, state: status, mend: null };
  return { component, state: status, reason: reason ?? 'unknown', detail, mend: mend ?? null };
}

type Findings = ReturnType<typeof findingsOf>;

type Pass = {
  readonly replica: string;
  readonly reports: readonly ComponentReport[];
  readonly known: Known;
  readonly nowMs: number;
};

/** Returns what was found of each component. */
async function record(tx: Repositories, { replica, reports, known, nowMs }: Pass): Promise<Findings> {
  await tx.health.lock();
  const { now, reports: before } = await tx.health.reports();
  const ago = (ms: number): Date => new Date(now.getTime() - (nowMs - ms));
  const startedAt = ago(known.startedMs);
  if (known.isFirst) await recordAbsence(tx, before, startedAt);
  if (known.lostMs !== null) await recordDatabaseOutage(tx, ago(known.lostMs), now);
  await tx.health.report({ replica, startedAt, parts: reportedParts(reports) });
  const { reports: all } = await tx.health.reports();
  const findings = new Map(findingsOf(all, now));
  const { writtenSinceMs } = known;
  // why: after an outage of the database the heartbeats of others are as old as this process's own
  if (writtenSinceMs !== null && nowMs - writtenSinceMs > SILENT_AFTER_SECONDS * 1_000)
    findings.set('replicas', replicasFinding(all, now));
  const { ended, begun } = outageChanges(await openOutages(tx), findings);
  for (const outage of ended) await end(tx, outage, now);
  for (const outage of begun) await begin(tx, { ...outage, from: now, to: null });
  return findings;
}

/** Nobody ended the outages of a killed service: they ended with it. */
async function recordAbsence(
  tx: Repositories,
  before: readonly ReplicaReport[],
  startedAt: Date,
): Promise<void> {
  const absence = absenceBefore(before, startedAt);
  if (absence === null) return;
  for (const outage of await openOutages(tx)) await end(tx, outage, absence.from);
  await begin(tx, absence);
}

/** Each process writes what it saw of the same outage: the later end counts. */
async function recordDatabaseOutage(tx: Repositories, from: Date, to: Date): Promise<void> {
  const last = (await tx.health.latest()).find(({ component }) => component === 'database');
  if (last?.to && last.to >= from) return await tx.health.end(last.id, to);
  await begin(tx, {
    component: 'database',
    state: 'down',
    reason: 'unreachable',
    detail: null,
    from,
    to,
  });
}

const openOutages = async (tx: Repositories): Promise<readonly Outage[]> =>
  (await tx.health.latest()).filter(({ to }) => to === null);

async function begin(tx: Repositories, outage: NewOutage): Promise<void> {
  await tx.events.append(healthEvent(await tx.health.insert(outage)));
}

async function end(tx: Repositories, outage: Outage, at: Date): Promise<void> {
  await tx.health.end(outage.id, at);
  await tx.events.append(healthEvent({ ...outage, to: at }));
}
