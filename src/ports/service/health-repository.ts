import type { NewOutage, Outage, ReplicaReport } from '../../domain/service/health.ts';
import type { Component } from '../../domain/service/health-words.ts';
import type { Page, PageRequest } from '../pagination.ts';

/** What the processes report, and the outages that follow from it. Its times are of the database's clock. */
export interface HealthRepository {
  /** Waits until no other process records; lasts until the transaction ends. */
  lock(): Promise<void>;
  /** The time, and all stored reports: after a long absence of all processes, old ones too. */
  reports(): Promise<{ readonly now: Date; readonly reports: readonly ReplicaReport[] }>;
  /** Stores the report with the present time as heartbeat, and forgets processes that were not seen for a day. */
  report(report: Omit<ReplicaReport, 'seenAt' | 'stoppedAt'>): Promise<void>;
  /** The process ends on purpose. */
  stopped(replica: string): Promise<void>;
  /** The latest outage of each component; only it can still last. */
  latest(): Promise<readonly Outage[]>;
  insert(outage: NewOutage): Promise<Outage>;
  /** Ends an outage, or moves its end to a later time. */
  end(id: string, at: Date): Promise<void>;
  /** Newest first, of one component or all. Throws `UnknownPage`. */
  page(component: Component | null, request: PageRequest): Promise<Page<Outage>>;
}
