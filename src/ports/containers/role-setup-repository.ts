import type { Container } from '../../domain/containers/container.ts';
import type { RoleSetup } from '../../domain/containers/role-setup.ts';

/** The setups of roles, which are part of the rows of containers. Whoever works on one holds a lease. */
export interface RoleSetupRepository {
  /** The row as it is, and changed by nobody else until the transaction ends; null when there is none. */
  findForUpdate(dbId: string): Promise<Container | null>;
  /** Writes the setup, whoever works on it: that one has lost it. Answers the row as it is then. */
  set(dbId: string, setup: RoleSetup): Promise<Container>;
  /**
   * Takes at most `limit` that are due, in containers that run and that nobody works on; of several processes exactly
   * one gets each. With `own` also those that the owner holds itself: what an earlier run of the same replica has left.
   */
  takeUp(owner: string, leaseSeconds: number, own: boolean, limit: number): Promise<readonly Container[]>;
  /** Writes the setup of that id while the owner holds it; answers the row, or null when it is another's or over. */
  record(id: string, owner: string, setup: RoleSetup): Promise<Container | null>;
  /** Lengthens the leases of those ids that the owner still holds. */
  renew(ids: readonly string[], owner: string, leaseSeconds: number): Promise<void>;
  /** Ends the lease of one, so that any process may go on with it at once. */
  release(id: string, owner: string): Promise<void>;
}
