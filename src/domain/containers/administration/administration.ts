import type { Container } from '../container.ts';

/** What administrators do with the containers of others. */
export type AdminAct = 'stop' | 'delete' | 'restore';

const REASONS: { readonly [A in AdminAct]: string } = {
  stop: 'an administrator stopped it',
  delete: 'an administrator deleted it',
  restore: 'an administrator restored it',
};

type Owned = Pick<Container, 'ownerId'>;

/** What the owner reads about the act; absent when administrators act on their own container. */
export const reasonOf = (
  act: AdminAct,
  { ownerId }: Owned,
  callerId: string,
): { readonly reason?: string } => (ownerId === callerId ? {} : { reason: REASONS[act] });

/** Whether an administrator requested a change of this container. Berth itself requests as nobody. */
export const isByAdministrator = (requestedBy: string | null, { ownerId }: Owned): boolean =>
  requestedBy !== null && requestedBy !== ownerId;

type Named = Pick<Container, 'dbId' | 'name' | 'ownerId' | 'ownerUsername'>;

/** What the audit keeps of such a change, with the names as they are now. */
export const detailsOfAct = ({ dbId, name, ownerId, ownerUsername }: Named): string =>
  JSON.stringify({ container_id: dbId, container_name: name, owner: ownerId, owner_name: ownerUsername });

/** What the audit keeps of a change of owner. */
export const detailsOfTransfer = (before: Named, after: Named): string =>
  JSON.stringify({
    container_id: after.dbId,
    container_name: after.name,
    from: before.ownerId,
    from_name: before.ownerUsername,
    to: after.ownerId,
    to_name: after.ownerUsername,
  });
