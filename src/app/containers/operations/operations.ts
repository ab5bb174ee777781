import { setTimeout as sleep } from 'node:timers/promises';
import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { NameTaken } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import { orRollBack } from '../../transaction.ts';
import { type Begun, carryOut, expectedStep, rowOf } from './execute-operation.ts';
import { DURING, newOperation, type Wish } from './new-operation.ts';
import { look } from './observe-engine.ts';
import { type Done, isUnderWay, type OperationDeps } from './operation-deps.ts';

export const LEASE_SECONDS = 15;
const BUSY_AFTER_MS = 30_000;
const POLL_MS = 100;

/** Looked at each time it is this wish's turn, for the row may have changed while it waited. */
export type Prepare = (tx: Repositories) => Promise<
  Result<
    {
      readonly container: Container;
      readonly target: StoredOperation['target'];
      /** A started container from the warm pool that a create takes. */
      readonly warmRuntimeId?: string | null;
    },
    DomainError
  >
>;

type Begin = { readonly operation: StoredOperation; readonly begun: Begun };

export type Operations = ReturnType<typeof operations>;

/** Begins operations, joins those of the same kind, and waits for those of another kind. */
export function operations(deps: OperationDeps) {
  const { storage, runtime, owner, log } = deps;
  const { repositories } = storage;
  const running = new Map<string, Promise<Done>>();
  /** Given up while the database did not answer: their leases are still ours. */
  const unreleased = new Set<string>();
  let firstTime = true;

  async function release(id: string): Promise<void> {
    await repositories.operations.release(id, owner);
    unreleased.delete(id);
  }

  const giveBack = async (id: string): Promise<void> =>
    void (await release(id).catch(() => unreleased.add(id)));

  /** Works on an operation whose lease this process holds. One that is not ended is given back. */
  function work(operation: StoredOperation, begun: Begun = {}): Promise<Done> {
    const done = carryOut(deps, operation, begun).then(
      async (left) => {
        if (left.operation.outcome === null) await giveBack(operation.id);
        return asItShows(left);
      },
      async (error: unknown) => {
        await giveBack(operation.id);
        throw error;
      },
    );
    running.set(operation.id, done);
    const forget = (): void => void running.delete(operation.id);
    done.then(forget, forget);
    return done;
  }

  /** The end of an operation that someone else began, here or in another process; null when time is up. */
  async function endOf(id: string, deadline: number): Promise<Done | null> {
    const here = running.get(id);
    if (here !== undefined)
      return await Promise.race([here, sleep(deadline - performance.now(), null, { ref: false })]);
    while (performance.now() < deadline) {
      const found = await repositories.operations.find(id);
      if (found === null) return null;
      if (found.outcome !== null) return { operation: found, container: await rowOf(deps, found) };
      await sleep(POLL_MS);
    }
    return null;
  }

  async function begin(wish: Wish, prepare: Prepare): Promise<Result<Begin | null, DomainError>> {
    return await orRollBack(storage.inTransaction, async (tx) => {
      const prepared = await prepare(tx);
      if (!prepared.ok) return prepared;
      const { container, target, warmRuntimeId = null } = prepared.value;
      const operation = newOperation(wish, container, target, owner, warmRuntimeId);
      const firstStep = expectedStep(operation);
      const { dbId, state, runtimeId } = container;
      // The row before the operation, as in every transaction that writes both: else two could wait for each other.
      const now = await tx.containers.changeState(dbId, [state], { state: DURING[wish.kind] });
      // That waits for the end of the operation before, which leaves another row than the one that was prepared.
      if (now?.runtimeId !== runtimeId) throw new OperationConflict(dbId);
      if (!(await tx.operations.begin(operation, LEASE_SECONDS, firstStep)))
        throw new OperationConflict(dbId);
      // Nobody else is at it from here on, so the engine can be looked at while this is committed.
      const begun: StoredOperation = { ...operation, outcome: null };
      const looking = look(runtime, begun, container.node);
      looking.catch(() => undefined);
      return ok({ operation: begun, begun: { row: container, firstStep, looking } });
    });
  }

  /** Waits behind the active operation. Its end is the answer when it was of the same kind. */
  async function behindActive(dbId: string, wish: Wish, deadline: number): Promise<Done | null> {
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
    /**
     * Carries a wish out, or joins one of the same kind. Answers the operation and the row as it has left it; the
     * outcome is null when the operation goes on by another try. Throws when what was asked for is not done and will
     * not be. `answering` is the engine's answer to a ping, for who has asked already.
     */
    async submit(
      dbId: string,
      wish: Wish,
      prepare: Prepare,
      answering = runtime.ping(),
    ): Promise<Result<Done, DomainError>> {
      // Nothing is written down that could not even begin.
      await answering;
      const deadline = performance.now() + BUSY_AFTER_MS;
      while (performance.now() < deadline) {
        const begun = await begin(wish, prepare).catch(nullIfConflict).catch(nameTaken(wish));
        if (!begun.ok) return begun;
        if (begun.value !== null) {
          const { operation, begun: known } = begun.value;
          return await work(operation, known).then(ok<Done>, nameTaken(wish));
        }
        const joined = await behindActive(dbId, wish, deadline);
        if (joined?.operation.outcome === 'failed') throw new Error('the joined operation failed');
        if (joined !== null) return ok(joined);
      }
      return refuse({ code: 'container_busy' });
    },

    /** Keeps the leases of the work in progress, and gives those back that could not be given back before. */
    async renew(): Promise<void> {
      await repositories.operations.renew(owner, [...running.keys()], LEASE_SECONDS);
      await Promise.all([...unreleased].map(release));
    },

    /**
     * Begins to go on with what another process has left; the first time, before any new work, also with what an
     * earlier run of this replica has left.
     */
    async takeOver(): Promise<void> {
      const taken = await repositories.operations.takeOver(owner, LEASE_SECONDS, firstTime);
      firstTime = false;
      for (const operation of taken) {
        if (running.has(operation.id)) continue;
        log.warn({ dbId: operation.dbId, kind: operation.kind }, 'continuing an unfinished operation');
        work(operation).catch((err: unknown) => log.warn({ err }, 'the operation failed'));
      }
    },

    /** Waits until nothing is being worked on. */
    idle: async (): Promise<void> => void (await Promise.allSettled(running.values())),
  };
}

/** With the row as it is for others while the operation goes on. */
const asItShows = (left: Done): Done =>
  isUnderWay(left) ? { ...left, container: { ...left.container, state: DURING[left.operation.kind] } } : left;

/** Another operation is active, or the row is not as it was when this one was prepared. */
class OperationConflict extends Error {
  override name = 'OperationConflict';
}

const nullIfConflict = (error: unknown): Result<null, DomainError> => {
  if (error instanceof OperationConflict) return ok(null);
  throw error;
};

/** Another container got the name between the check and the write. */
const nameTaken =
  (wish: Wish) =>
  (error: unknown): Result<never, DomainError> => {
    if (!(error instanceof NameTaken)) throw error;
    return wish.kind === 'update'
      ? refuse({ code: 'validation_failed', fields: { name: 'is already in use' } })
      : refuse({ code: 'name_taken' });
  };
