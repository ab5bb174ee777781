import { randomUUID } from 'node:crypto';
import type { AuditAction } from '../../../domain/audit.ts';
import { installsSomething } from '../../../domain/containers/catalogue.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { cancelRoleSetup, type RoleSetup, retryRoleSetup } from '../../../domain/containers/role-setup.ts';
import { progressEvent } from '../../../domain/events.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { ok, refuse } from '../../../domain/result.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { orRollBack } from '../../transaction.ts';
import { findOwnInEngine } from '../find-container.ts';
import type { RoleSetupDeps } from './role-setup-deps.ts';

type Decide = (tx: Repositories, container: Container) => AsyncResult<RoleSetup>;
/** Receives the new row and the attempt in progress before. */
type Changed = (container: Container, before: string | null) => void;
type SetupRequest = { readonly id: string; readonly caller: Caller; readonly origin: RequestOrigin };

/** Restarts the installation; one in progress continues. */
export const retrySetup = (
  deps: RoleSetupDeps,
  changed: Changed,
  request: SetupRequest,
): AsyncResult<Container> =>
  change(deps, changed, 'role_setup_retried', request, async ({ catalogue }, container) => {
    if (guestExpired(request.caller.user, deps.clock.now())) return refuse({ code: 'guest_session_expired' });
    if (container.state !== 'running') return refuse({ code: 'container_not_running' });
    if (!deps.runtime.capabilities.hasRoot) return refuse({ code: 'not_offered_by_engine' });
    const role = await catalogue.role(container.role);
    return retryRoleSetup(container.roleSetup, role === null || installsSomething(role), randomUUID());
  });

/** Ends the installation. Installed tools stay. */
export const cancelSetup = (
  deps: RoleSetupDeps,
  changed: Changed,
  request: SetupRequest,
): AsyncResult<Container> =>
  change(deps, changed, 'role_setup_cancelled', request, async (_tx, container) =>
    cancelRoleSetup(container.roleSetup),
  );

async function change(
  { storage }: RoleSetupDeps,
  changed: Changed,
  action: AuditAction,
  { id, caller, origin }: SetupRequest,
  decide: Decide,
): AsyncResult<Container> {
  const found = await findOwnInEngine(storage.repositories, id, caller);
  if (!found.ok) return found;
  const { dbId } = found.value;
  let before: string | null = null;
  const done = await orRollBack(storage.inTransaction, async (tx) => {
    const locked = await tx.roleSetups.findForUpdate(dbId);
    // It may have been given away before the lock.
    const own = await findOwnInEngine(tx, dbId, caller);
    if (!own.ok) return own;
    if (locked === null) return refuse({ code: 'container_not_found' });
    const setup = await decide(tx, locked);
    if (!setup.ok) return setup;
    before = locked.roleSetup.id;
    if (setup.value === locked.roleSetup) return ok(locked);
    const container = await tx.roleSetups.set(dbId, setup.value);
    await tx.audit.append({ userId: caller.user.id, action, ...origin, details: dbId });
    await tx.events.append(progressEvent(container));
    return ok(container);
  });
  if (done.ok) changed(done.value, before);
  return done;
}
