import type { AuditEntry, AuditRecord } from '../domain/audit.ts';
import type { Page, PageRequest } from './pagination.ts';

/** Absent fields do not filter. */
export type AuditFilter = {
  readonly userId?: string;
  readonly action?: string;
  /** Inclusive. */
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
};

/** Append-only. */
export interface AuditLog {
  append(...entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first. Throws `UnknownPage`. */
  page(filter: AuditFilter, request: PageRequest): Promise<Page<AuditRecord>>;
}
