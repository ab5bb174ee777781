/** Of the service itself. */
import type { Generated } from 'kysely';
import type { Severity } from '../../../domain/service/announcement.ts';
import type { Outage, ReplicaReport } from '../../../domain/service/health.ts';
import type { Component, HealthReason } from '../../../domain/service/health-words.ts';
import type { Defaulted, Json } from './column-types.ts';

export type AnnouncementsTable = {
  id: Generated<string>;
  text: string;
  severity: Severity;
  starts_at: Date;
  ends_at: Date | null;
  created_at: Generated<Date>;
  updated_at: Defaulted<Date>;
};

export type ReplicaReportsTable = {
  replica: string;
  started_at: Date;
  seen_at: Date;
  stopped_at: Date | null;
  parts: Json<ReplicaReport['parts']>;
};

export type HealthOutagesTable = {
  id: Generated<string>;
  component: Component;
  state: Outage['state'];
  reason: HealthReason;
  detail: string | null;
  created_at: Date;
  ended_at: Date | null;
};

export type ServiceTables = {
  announcements: AnnouncementsTable;
  replica_reports: ReplicaReportsTable;
  health_outages: HealthOutagesTable;
};
