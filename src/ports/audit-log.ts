import type { AuditEntry } from '../domain/audit.ts';

/** Only grows. */
export interface AuditLog {
  append(entry: AuditEntry): Promise<void>;
}
