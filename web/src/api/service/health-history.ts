import type { HealthBody, OutageBody } from '../../../../src/adapters/http/schema/service/health.ts';
import { get, getPage, type Page } from '../calls.ts';

export type ServiceHealth = HealthBody;
export type ComponentHealth = HealthBody['components'][number];
export type ReplicaHealth = HealthBody['replicas'][number];
export type Outage = OutageBody;

/** Each component and process, now. For administrators. */
export const getServiceHealth = () => get<ServiceHealth>('/api/admin/health');

/** Newest first. */
export const listOutages = (cursor: string | null): Promise<Page<Outage>> =>
  getPage<Outage>('/api/admin/health/history', 'outages', { cursor, limit: '100' });
