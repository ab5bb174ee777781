import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, Origin } from '../../domain/caller.ts';
import type { Container, ContainerState } from '../../domain/container.ts';
import type { DomainError } from '../../domain/errors.ts';
import type { OperationKind } from '../../domain/operation.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import { NameTaken } from '../../ports/container-repository.ts';
import type { StoredOperation } from '../../ports/operation-repository.ts';
import type { Repositories } from '../../ports/repositories.ts';
import { orRollBack } from '../transaction.ts';
import type { OperationDeps } from './deps.ts';
import { carryOut } from './run.ts';

export const LEASE_SECONDS = 15;
const BUSY_AFTER_MS = 30_000;
const POLL_MS = 100;

/** What is asked of a container, and by whom. */
export type Wish = {
  readonly kind: OperationKind;
  readonly caller: Caller;
  readonly origin: Origin;
  readonly carryOver?: boolean;
};

/** Looked at each time it is this wish's turn, for the row may have changed while it waited. */
export type Prepare = (
  tx: Repositories,
) => Promise<
  Result<{ readonly container: Container; readonly target: StoredOperation['target'] }, DomainError>
>;

export type Operations = ReturnType<typeof operations>;

/** Begins operations, joins those of the same kind, and waits for those of another kind. */
export function operations(deps: OperationDeps) {
  const { storage, runtime, owner, log } = deps;
  const { repositories } = storage;
  const running = new Map<string, Promise<StoredOperation>>();
  let firstTime = true;

  /** Works on an operation whose lease this process holds. One that cannot be ended is given back. */
  function work(operation: StoredOperation): Promise<StoredOperation> {
    const done = carryOut(deps, operation).catch(async (error: unknown) => {
      await repositories.operations.release(operation.id, owner).catch(() => undefined);
      throw error;
    });
    running.set(operation.id, done);
    const forget = (): void => void running.delete(operation.id);
    done.then(forget, forget);
    return done;
  }

  /** The end of an operation that someone else began, here or in another process; null when time is up. */
  async function endOf(id: string, deadline: number): Promise<StoredOperation | null> {
    const here = running.get(id);
    if (here !== undefined)
      return await Promise.race([here, sleep(deadline - performance.now(), null, { ref: false })]);
    while (performance.now() < deadline) {
      const found = await repositories.operations.find(id);
      if (found === null || found.outcome !== null) return found;
      await sleep(POLL_MS);
    }
    return null;
  }

  async function begin(wish: Wish, prepare: Prepare): Promise<Result<StoredOperation | null, DomainError>> {
    return await orRollBack(storage.inTransaction, async (tx) => {
      const prepared = await prepare(tx);
      if (!prepared.ok) return prepared;
      const { container, target } = prepared.value;
      const active = await tx.operations.active(container.dbId);
      if (active !== null) return ok(null);
      const operation = newOperation(wish, container, target, owner);
      if (!(await tx.operations.begin(operation, LEASE_SECONDS))) return ok(null);
      const { state } = container;
      await tx.containers.changeState(container.dbId, [state], { state: DURING[wish.kind] });
      return ok({ ...operation, outcome: null });
    });
  }

  /** Waits behind the active operation. True: it was of the same kind and has ended well, so its end is the answer. */
  async function behindActive(dbId: string, wish: Wish, deadline: number): Promise<StoredOperation | null> {
    const active = await repositories.operations.active(dbId);
    if (active === null) return null;
    const joins = active.kind === wish.kind && wish.kind !== 'update';
    const ended = await endOf(active.id, deadline).catch((error: unknown) => {
      if (joins) throw error;
      return null;
    });
    return joins && ended !== null ? ended : null;
  }

  return {
    /** Carries a wish out, or joins one of the same kind. Answers the operation that did it. */
    async submit(dbId: string, wish: Wish, prepare: Prepare): Promise<Result<StoredOperation, DomainError>> {
      // Nothing is written down that could not even begin.
      await runtime.ping();
      const deadline = performance.now() + BUSY_AFTER_MS;
      while (performance.now() < deadline) {
        const begun = await begin(wish, prepare).catch(nameTaken(wish));
        if (!begun.ok) return begun;
        if (begun.value !== null) return await work(begun.value).then(ok<StoredOperation>, nameTaken(wish));
        const joined = await behindActive(dbId, wish, deadline);
        if (joined?.outcome === 'failed') throw new Error('the joined operation failed');
        if (joined !== null) return ok(joined);
      }
      return refuse({ code: 'container_busy' });
    },

    /** Keeps the leases of the work in progress. */
    renew: () => repositories.operations.renew(owner, LEASE_SECONDS),

    /**
     * Begins to go on with what another process has left; the first time, before any new work, also with what an
     * earlier run of this replica has left.
     */
    async takeOver(): Promise<void> {
      const taken = await repositories.operations.takeOver(owner, LEASE_SECONDS, firstTime);
      firstTime = false;
      for (const operation of taken) {
        if (running.has(operation.id)) continue;
        log.warn({ dbId: operation.dbId, kind: operation.kind }, 'going on with an unfinished operation');
        work(operation).catch((err: unknown) => log.warn({ err }, 'the operation did not end well'));
      }
    },

    /** Waits until nothing is being worked on. */
    idle: async (): Promise<void> => void (await Promise.allSettled(running.values())),
  };
}

/** Another container got the name between the check and the write. */
const nameTaken =
  (wish: Wish) =>
  (error: unknown): Result<never, DomainError> => {
    if (!(error instanceof NameTaken)) throw error;
    return wish.kind === 'update'
      ? refuse({ code: 'validation_failed', fields: { name: 'is already in use' } })
      : refuse({ code: 'name_taken' });
  };

const DURING: { readonly [K in OperationKind]: ContainerState } = {
  create: 'creating',
  start: 'starting',
  stop: 'stopping',
  update: 'updating',
  delete: 'stopping',
  restore: 'creating',
};

function newOperation(
  wish: Wish,
  container: Container,
  target: StoredOperation['target'],
  owner: string,
): Omit<StoredOperation, 'outcome'> {
  const { state, runtimeId, generation, resources } = container;
  return {
    id: randomUUID(),
    dbId: container.dbId,
    kind: wish.kind,
    phase: 'forward',
    before: { state, runtimeId: wish.kind === 'restore' ? null : runtimeId, generation, resources },
    target,
    verified: false,
    volumeKept: null,
    requestedBy: wish.caller.user.id,
    origin: wish.origin,
    carryOver: wish.carryOver ?? false,
    freshRuntimeId: null,
    freshImage: null,
    leaseOwner: owner,
  };
}
