import { auditRoutes } from '../../../adapters/http/routes/service/audit.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { abortWhenUnauthorized } from '../../../adapters/http/streamed-replies.ts';
import { authorize } from '../../../domain/identity/caller.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { auditTrail } from '../../audit/audit-trail.ts';
import type { AuthorizedConnections } from '../../identity/auth/authorized-connections.ts';

type AuditDeps = {
  readonly repositories: Repositories;
  readonly monotonicMs: () => number;
  readonly live: AuthorizedConnections;
};

/** Records sealed per transaction; the rest follow at once. */
const SEAL_AT_ONCE = 500;

type AuditWing = { readonly routes: Routes; readonly seal: () => Promise<void> };

/** The audit's views and seals. An export ends with the right to read it. */
export const wireAudit = ({ repositories, monotonicMs, live }: AuditDeps): AuditWing => ({
  routes: auditRoutes({
    audit: auditTrail(repositories, monotonicMs),
    cutOffReading: abortWhenUnauthorized(live, (now) => authorize(now, 'read').ok),
    cutOffAdmin: abortWhenUnauthorized(live, (now) => authorize(now, 'admin').ok),
  }),
  async seal() {
    while ((await repositories.auditChain.seal(SEAL_AT_ONCE)) === SEAL_AT_ONCE);
  },
});
