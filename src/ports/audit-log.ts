import type { AuditEntry, AuditRecord } from '../domain/audit.ts';
import type { Page, PageRequest } from './pagination.ts';

/** What is left out is not filtered by. */
export type AuditFilter = {
  readonly userId?: string;
  readonly action?: string;
  /** Inclusive. */
  readonly from?: Date;
  /** Exclusive. */
  readonly to?: Date;
};

/** Only grows. */
export interface AuditLog {
  append(...entries: readonly AuditEntry[]): Promise<void>;
  /** Newest first. Throws `UnknownPage`. */
  page(filter: AuditFilter, request: PageRequest): Promise<Page<AuditRecord>>;
}
