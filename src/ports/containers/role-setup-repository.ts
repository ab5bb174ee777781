import type { Container } from '../../domain/containers/container.ts';
import type { RoleSetup } from '../../domain/containers/role-setup.ts';

/** The role setups, part of the containers' rows. A worker has a lease. */
export interface RoleSetupRepository {
  /** Locks the row until the transaction ends; null when there is none. */
  findForUpdate(dbId: string): Promise<Container | null>;
  /** Writes the setup; a worker on it loses it. Returns the new row. */
  set(dbId: string, setup: RoleSetup): Promise<Container>;
  /**
   * Takes at most `limit` due setups, in running containers without a worker; exactly one process gets each. One per
   * user is in progress; users take turns, and so do the containers of each: those first whose last attempt is longest
   * ago. `own`: also the owner's, left by an earlier run of this replica.
   */
  takeUp(owner: string, leaseSeconds: number, own: boolean, limit: number): Promise<readonly Container[]>;
  /**
   * Writes the setup with that id while the owner has its lease; returns the row, or null when it is lost or finished.
   */
  record(id: string, owner: string, setup: RoleSetup): Promise<Container | null>;
  renew(ids: readonly string[], owner: string, leaseSeconds: number): Promise<void>;
  /** Ends a lease, so that any process may continue at once. */
  release(id: string, owner: string): Promise<void>;
}
