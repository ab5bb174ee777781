import { decideTransfer, type TransferFacts } from '../../../domain/containers/administration/transfer.ts';
import type { Caller, RequestOrigin } from '../../../domain/identity/caller.ts';
import { ok, refuse } from '../../../domain/result.ts';
import { isUuid } from '../../../domain/uuid.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { lockAdmins } from '../../identity/account/lock-caller.ts';
import type { Proofs } from '../../identity/sign-in/reauthentication.ts';
import { type Acted, endHung } from '../container-lifecycle.ts';
import type { Prepare } from '../operations/begin-operation.ts';
import { engineRefusal } from '../operations/engine-refusal.ts';
import { isUnderWay, pinged } from '../operations/operation-deps.ts';
import { type AdminContainerDeps, findLive } from './admin-containers.ts';

/** `to`: the id of the new owner. `name`: under which name; its present one if absent. */
export type TransferRequest = { readonly to: string; readonly name?: string };

export type TransferContainer = ReturnType<typeof transferContainer>;

/**
 * Stops a container and gives it to another user, within that user's limits. Needs a confirmed sign-in, never an API
 * token. A repeat changes nothing.
 */
export const transferContainer =
  (deps: AdminContainerDeps) =>
  async (
    id: string,
    { to, name }: TransferRequest,
    given: Proofs,
    caller: Caller,
    origin: RequestOrigin,
  ): AsyncResult<Acted> => {
    const answers = pinged(deps);
    const found = await findLive(deps.storage.repositories, id);
    if (!found.ok) return found;
    const container = found.value;
    const sure = await deps.confirmed(caller, given, origin);
    if (!sure.ok) return sure;
    const { dbId, ownerId } = container;
    const isDone = ownerId === to.toLowerCase() && (name ?? container.name) === container.name;
    if (isDone) return ok({ container, underWay: false });
    const prepare: Prepare = async (tx) => {
      // Users before the container, as in every transaction.
      const admins = await lockAdmins(tx, caller);
      if (!admins.ok) return admins;
      const newOwner = await lockedUser(tx, to);
      const now = await findLive(tx, dbId);
      if (!now.ok) return now;
      // Somebody else has it meanwhile: the administrator has to decide again.
      if (now.value.ownerId !== ownerId) return refuse({ code: 'container_busy' });
      const target = { name: name ?? now.value.name, resources: now.value.resources };
      const seen = { callerId: caller.user.id, now: deps.clock.now() };
      const facts = await factsOf(tx, newOwner, target.name, seen);
      const decided = decideTransfer(now.value, target.name, facts);
      return decided.ok ? ok({ container: now.value, target }) : decided;
    };
    const observable = endHung(deps, container);
    observable.catch(() => undefined);
    const wanted = { newOwnerId: to.toLowerCase(), newName: name ?? container.name };
    const request = { kind: 'transfer', caller, origin, ...wanted } as const;
    const done = await deps.operations
      .submit(dbId, request, prepare, { answers, observable })
      .catch(engineRefusal);
    return done.ok ? ok({ container: done.value.container, underWay: isUnderWay(done.value) }) : done;
  };

async function lockedUser({ users }: Repositories, id: string) {
  if (!isUuid(id) || !(await users.lock(id.toLowerCase()))) return null;
  return await users.findById(id.toLowerCase());
}

async function factsOf(
  { catalogue, containers }: Repositories,
  newOwner: TransferFacts['newOwner'],
  name: string,
  seen: Pick<TransferFacts, 'callerId' | 'now'>,
): Promise<TransferFacts> {
  if (newOwner === null) return { ...seen, newOwner, tier: null, live: 0, nameInUse: false };
  const [tier, live, nameInUse] = await Promise.all([
    catalogue.tier(newOwner.tier),
    containers.countLive(newOwner.id),
    containers.nameInUse(newOwner.id, name),
  ]);
  return { ...seen, newOwner, tier, live, nameInUse };
}
