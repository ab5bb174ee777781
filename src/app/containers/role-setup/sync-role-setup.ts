import { randomUUID } from 'node:crypto';
import { installsSomething } from '../../../domain/containers/catalogue.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { nextRoleSetup, type RoleSetupInput } from '../../../domain/containers/role-setup.ts';
import type { Repositories } from '../../../ports/storage.ts';

/** The engine container that a change has made, if it has made one; `carried`: with what the earlier one had. */
export type MadeAnew = { readonly wasCarriedOver: boolean } | null;

/**
 * Makes the tools follow a change of the row, in the transaction of that change: they are to be installed in an engine
 * container that was made anew, and nothing goes on in one that does not run.
 */
export async function syncRoleSetup(
  tx: Repositories,
  container: Container,
  madeAnew: MadeAnew,
): Promise<Container> {
  const input = await inputOf(tx, container, madeAnew);
  if (input === null) return container;
  const setup = nextRoleSetup(container.roleSetup, input);
  const same = setup.status === container.roleSetup.status && setup.id === container.roleSetup.id;
  return same ? container : await tx.roleSetups.set(container.dbId, setup);
}

async function inputOf(
  { catalogue }: Repositories,
  container: Container,
  madeAnew: MadeAnew,
): Promise<RoleSetupInput | null> {
  const { state } = container;
  const id = randomUUID();
  if (state === 'deleted') return { what: 'deleted' };
  if (madeAnew === null) return state === 'running' ? null : { what: 'stopped', id };
  const role = await catalogue.role(container.role);
  // One that the catalogue has lost is told by the installation.
  const installs = role === null || installsSomething(role);
  return {
    what: 'made_anew',
    installs,
    wasCarriedOver: madeAnew.wasCarriedOver,
    running: state === 'running',
    id,
  };
}
