import type { AuditRecord } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import type { AuditFilter } from '../ports/audit-log.ts';
import type { Page, PageRequest } from '../ports/page.ts';
import type { Repositories } from '../ports/repositories.ts';

export type Audit = ReturnType<typeof auditTrail>;

/** What was done; nothing here changes it. */
export const auditTrail = ({ audit }: Pick<Repositories, 'audit'>) => ({
  /** What was done in the caller's name, newest first. Throws `UnknownPage`. */
  own: (
    filter: Omit<AuditFilter, 'userId'>,
    request: PageRequest,
    { user }: Caller,
  ): Promise<Page<AuditRecord>> => audit.page({ ...filter, userId: user.id }, request),
});
