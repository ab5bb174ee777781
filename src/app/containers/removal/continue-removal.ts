import { forEachAtMost } from '../../../concurrency/pool.ts';
import { detailsOfTransfer } from '../../../domain/containers/administration/administration.ts';
import { isAgent } from '../../../domain/containers/agents/agent.ts';
import type { Container } from '../../../domain/containers/container.ts';
import { containerEvent } from '../../../domain/events.ts';
import { transferName, type UserRemoval } from '../../../domain/identity/people/user-removal.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { OfAgents } from '../agents/agents.ts';
import type { ContainerDeps } from '../container-deps.ts';
import { endHung } from '../container-lifecycle.ts';
import type { Prepare } from '../operations/begin-operation.ts';
import type { TerminalsOfContainers } from '../operations/operation-deps.ts';

const AT_A_TIME = 4;
const REASON = 'its owner was deleted';
/** How many numbered names are tried for a container whose name the new owner uses already. */
const MAX_NAME_TRIES = 1_000;

export type RemovalDeps = Pick<ContainerDeps, 'storage' | 'runtime' | 'operations' | 'log'> & {
  readonly agents: Pick<OfAgents, 'forget'>;
  readonly terminals: TerminalsOfContainers;
};

/** Continues every deletion that is not complete; for a timer, and for what a killed process left. */
export const continueRemovals = (deps: RemovalDeps) => async (): Promise<void> => {
  for (const { userId } of await deps.storage.repositories.userRemovals.list()) {
    await continueRemoval(deps, userId).catch((err: unknown) =>
      deps.log.warn({ err, userId }, 'could not continue the deletion of a user'),
    );
  }
};

/**
 * Deletes or transfers the containers that are left, then deletes the user. It may be repeated, also by several
 * processes at once: a completed step does nothing. Returns whether all is done.
 */
export async function continueRemoval(deps: RemovalDeps, userId: string): Promise<boolean> {
  const { repositories } = deps.storage;
  const removal = await repositories.userRemovals.find(userId);
  if (removal === null) return true;
  const left = await liveContainers(repositories, userId);
  await forEachAtMost(AT_A_TIME, left, (container) => deleteOrTransfer(deps, removal, container));
  return await finish(deps, removal);
}

async function deleteOrTransfer(
  deps: RemovalDeps,
  removal: UserRemoval,
  container: Container,
): Promise<void> {
  // A machine stays with its person, who alone can connect it.
  if (isAgent(container)) await deps.agents.forget(container, removal.origin);
  else if (removal.plan.kind === 'transfer') await transfer(deps, removal, container, removal.plan.toUserId);
  else await deleteOne(deps, removal, container);
}

async function deleteOne(deps: RemovalDeps, { origin }: UserRemoval, container: Container): Promise<void> {
  const { dbId, ownerId } = container;
  const prepare: Prepare = async (tx) => {
    const now = await tx.containers.findOwned({ kind: 'db_id', dbId }, ownerId);
    if (now === null) return refuse({ code: 'container_not_found' });
    return ok({ container: now, target: { name: now.name, resources: now.resources } });
  };
  const observable = endHung(deps, container);
  observable.catch(() => undefined);
  const request = { kind: 'delete', caller: null, origin, reason: REASON } as const;
  await deps.operations.submit(dbId, request, prepare, { answers: deps.runtime.ping(), observable });
}

/** Transfers one container and ends its shares, which were the former owner's choice. */
async function transfer(
  { storage, terminals, log }: RemovalDeps,
  { userId, requestedBy, origin }: UserRemoval,
  { dbId }: Container,
  toUserId: string,
): Promise<void> {
  const transferred = await storage.inTransaction(async (tx) => {
    if (!(await tx.users.lock(toUserId))) {
      log.warn({ userId, toUserId, dbId }, 'a container stays: the user it is transferred to is deleted');
      return null;
    }
    const container = await tx.containers.findOwned({ kind: 'db_id', dbId }, userId);
    if (container === null || (await tx.operations.active(dbId)) !== null) return null;
    const name = await freeName(tx, container.name, toUserId);
    const changed = await tx.containers.transfer(dbId, userId, toUserId, name);
    if (changed === null) return null;
    await terminals.endShares(tx, dbId, origin);
    const details = detailsOfTransfer(container, changed);
    await tx.audit.append({ userId: requestedBy, action: 'container_transferred', ...origin, details });
    await tx.events.append(containerEvent('container_created', changed));
    return changed;
  });
  if (transferred !== null) terminals.closeAll(dbId, CLOSE.collaborationEnded);
}

async function freeName(tx: Repositories, name: string, ownerId: string): Promise<string> {
  for (let n = 1; n < MAX_NAME_TRIES; n += 1) {
    const candidate = transferName(name, n);
    if (!(await tx.containers.nameInUse(ownerId, candidate))) return candidate;
  }
  throw new Error(`no free name like ${name}`);
}

/** Deletes the user. False while a container is left, or was made meanwhile. */
const finish = ({ storage }: RemovalDeps, { userId, requestedBy, origin }: UserRemoval): Promise<boolean> =>
  storage.inTransaction(async (tx) => {
    await tx.users.lock(userId);
    const user = await tx.users.findById(userId);
    if (user === null) return true;
    if ((await liveContainers(tx, userId)).length > 0) return false;
    if (!(await tx.userRemovals.finish(userId))) return true;
    await tx.snapshots.markDeletedOf(userId);
    const details = JSON.stringify({ id: userId, username: user.username });
    await tx.audit.append({ userId: requestedBy, action: 'user_deleted', ...origin, details });
    return true;
  });

/** The user's own containers and agents. */
export async function liveContainers(
  { sharedContainers }: Pick<Repositories, 'sharedContainers'>,
  userId: string,
): Promise<readonly Container[]> {
  const visible = await sharedContainers.listVisible(userId);
  return visible.filter(({ access }) => access === null).map(({ container }) => container);
}
