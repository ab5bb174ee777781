import type { AuditAction, AuditRecord } from '../../domain/audit.ts';
import { type Caller, credentialId, type RequestOrigin } from '../../domain/identity/caller.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { AuditFilter } from '../../ports/audit-log.ts';
import type { Page, PageRequest } from '../../ports/pagination.ts';
import type { Repositories } from '../../ports/storage.ts';
import { oncePer } from './audit-view-log.ts';

const NOTE_EVERY_MS = 600_000;
/** Records of an export in memory at once, whatever its length. */
const EXPORT_PART = 500;
const NONE: Page<AuditRecord> = { items: [], next: null };

export type Audit = ReturnType<typeof auditTrail>;
export type AuditDeps = Pick<Repositories, 'audit' | 'users'>;
type OwnFilter = Omit<AuditFilter, 'userId'>;
/** `user`: an id, a name or an email address. */
export type AnyFilter = OwnFilter & { readonly user?: string };

/** Reads the audit, newest first. Throws `UnknownPage`. */
export function auditTrail({ audit, users }: AuditDeps, monotonicMs: () => number) {
  const isNew = oncePer(NOTE_EVERY_MS, monotonicMs);

  /** An administrator's view is recorded, once in a while per session or token. */
  const note = async (
    { user, credential }: Caller,
    origin: RequestOrigin,
    action: AuditAction,
  ): Promise<void> => {
    if (!isNew(`${credentialId(credential)} ${action}`)) return;
    await audit.append({ userId: user.id, action, ...origin, details: '' });
  };
  const resolved = async ({ user, ...filter }: AnyFilter): Promise<AuditFilter | null> => {
    if (user === undefined) return filter;
    const userId = isUuid(user) ? user.toLowerCase() : (await users.findForLogin(user))?.user.id;
    return userId === undefined ? null : { ...filter, userId };
  };

  return {
    own: (filter: OwnFilter, request: PageRequest, { user }: Caller): Promise<Page<AuditRecord>> =>
      audit.page({ ...filter, userId: user.id }, request),

    exportOwn: (filter: OwnFilter, { user }: Caller): AsyncIterable<AuditRecord> =>
      whole(audit, { ...filter, userId: user.id }),

    /** Everybody's actions; the route's scope decides who may ask. */
    async all(filter: AnyFilter, request: PageRequest, caller: Caller, origin: RequestOrigin) {
      const known = await resolved(filter);
      const page = known === null ? NONE : await audit.page(known, request);
      await note(caller, origin, 'audit_listed');
      return page;
    },

    async exportAll(
      filter: AnyFilter,
      caller: Caller,
      origin: RequestOrigin,
    ): Promise<AsyncIterable<AuditRecord>> {
      const known = await resolved(filter);
      await note(caller, origin, 'audit_exported');
      return known === null ? nothing() : whole(audit, known);
    },
  };
}

async function* nothing(): AsyncGenerator<AuditRecord> {}

/** Every record, read in parts on demand. Later records are newer than all of them, and omitted. */
async function* whole(audit: Repositories['audit'], filter: AuditFilter): AsyncGenerator<AuditRecord> {
  let after: string | null = null;
  do {
    const page: Page<AuditRecord> = await audit.page(filter, { after, limit: EXPORT_PART });
    yield* page.items;
    after = page.next;
  } while (after !== null);
}
