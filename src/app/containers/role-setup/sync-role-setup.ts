import { randomUUID } from 'node:crypto';
import { installsSomething } from '../../../domain/containers/catalogue.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { nextRoleSetup, type RoleSetupInput } from '../../../domain/containers/role-setup.ts';
import type { Repositories } from '../../../ports/storage.ts';

/** The new engine container of a change, if any; `wasCarriedOver`: with the earlier one's layer. */
export type Recreation = { readonly wasCarriedOver: boolean } | null;

/**
 * Adjusts the setup to a change of the row, in its transaction: a new engine container needs the tools, and a stopped
 * one ends the installation.
 */
export async function syncRoleSetup(
  tx: Repositories,
  container: Container,
  recreation: Recreation,
): Promise<Container> {
  const input = await inputOf(tx, container, recreation);
  if (input === null) return container;
  const setup = nextRoleSetup(container.roleSetup, input);
  const same = setup.status === container.roleSetup.status && setup.id === container.roleSetup.id;
  return same ? container : await tx.roleSetups.set(container.dbId, setup);
}

async function inputOf(
  { catalogue }: Repositories,
  container: Container,
  recreation: Recreation,
): Promise<RoleSetupInput | null> {
  const { state } = container;
  const id = randomUUID();
  if (state === 'deleted') return { what: 'deleted' };
  if (recreation === null) return state === 'running' ? null : { what: 'stopped', id };
  const role = await catalogue.role(container.role);
  // If the catalogue has lost the role, the installation reports it.
  const installs = role === null || installsSomething(role);
  return {
    what: 'recreated',
    installs,
    wasCarriedOver: recreation.wasCarriedOver,
    running: state === 'running',
    id,
  };
}
