import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { NameTaken } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { beginOperation, type Prepare } from './begin-operation.ts';
import { FIRST_LEASE, newOperation, type OperationRequest } from './new-operation.ts';
import {
  type EngineReady,
  LEASE_SECONDS,
  type OperationDeps,
  type OperationState,
} from './operation-deps.ts';
import { endOf, noWork, type OwnWork, renewLeases, takeOver, workOn } from './operation-work.ts';

const BUSY_AFTER_MS = 30_000;
/** Kinds of which a second request joins the first. A second update may want other limits; each snapshot is its own. */
const JOINED: ReadonlySet<OperationRequest['kind']> = new Set([
  'start',
  'stop',
  'delete',
  'create',
  'restore',
  'transfer',
]);

export type Operations = ReturnType<typeof operations>;

/** Begins operations, joins those of the same kind, and waits for others. */
export function operations(deps: OperationDeps) {
  const work = noWork();
  return {
    /**
     * Executes a request, or joins an operation of the same kind. Returns the operation and its row; the outcome is
     * null when it continues in the background. Throws when the request is not done and will not be. `onBegun`: called
     * when the operation is recorded.
     */
    submit: async (
      dbId: string,
      request: OperationRequest,
      prepare: Prepare,
      engine: EngineReady = { answers: deps.runtime.ping() },
      onBegun: () => void = () => {},
    ): AsyncResult<OperationState> => {
      const done = await submit(deps, work, { dbId, request, prepare, engine, onBegun });
      deps.steps.submitted();
      return done;
    },

    /** Records an operation on a new row in the caller's transaction, for `settle`. */
    recordNew: async (tx: Repositories, request: OperationRequest, row: Container): Promise<void> => {
      const container = { ...row, generation: 0 };
      const { name, resources } = container;
      const operation = newOperation(request, container, { name, resources }, deps.owner, null);
      await tx.operations.begin(operation, LEASE_SECONDS);
    },

    /** Works on the container's recorded operation, or waits for the process that does. Returns its row. */
    settle: (dbId: string): Promise<Container> => settle(deps, work, dbId),

    /** For a timer. */
    renew: (): Promise<void> => renewLeases(deps, work),

    /** Takes over operations of another process or an earlier run. */
    takeOver: (): Promise<void> => takeOver(deps, work),

    idle: async (): Promise<void> => {
      await Promise.allSettled([...work.running.values()].map(({ done }) => done));
    },
  };
}

type Submission = {
  readonly dbId: string;
  readonly request: OperationRequest;
  readonly prepare: Prepare;
  readonly engine: EngineReady;
  readonly onBegun: () => void;
};

async function submit(
  deps: OperationDeps,
  work: OwnWork,
  { dbId, request, prepare, engine, onBegun }: Submission,
): AsyncResult<OperationState> {
  // An operation that could not begin is not recorded.
  await engine.answers;
  const deadline = performance.now() + BUSY_AFTER_MS;
  while (performance.now() < deadline) {
    const begun = await beginOperation(deps, request, prepare, engine).catch(nameTaken(request));
    if (!begun.ok) return begun;
    if (begun.value !== null) {
      onBegun();
      const { operation, begun: known } = begun.value;
      return await workOn(deps, work, operation, known).then(ok<OperationState>, nameTaken(request));
    }
    const joined = await behindActive(deps, work, dbId, request, deadline);
    if (joined?.operation.outcome === 'failed') return failedWith(joined.operation);
    if (joined !== null) return ok(joined);
  }
  return refuse({ code: 'container_busy' });
}

const isSame = (active: StoredOperation, { kind, newOwnerId, newName }: OperationRequest): boolean =>
  active.kind === kind &&
  active.newOwnerId === newOwnerId &&
  (kind !== 'transfer' || active.target.name === newName);

/** The answer to a request that joined an operation of another process. */
function failedWith({ refusal }: StoredOperation): Result<never, DomainError> {
  if (refusal === null) throw new Error('the joined operation failed');
  return refuse(refusal);
}

/** Waits for the active operation, whose end is the answer if it is of the same kind. */
async function behindActive(
  deps: OperationDeps,
  work: OwnWork,
  dbId: string,
  request: OperationRequest,
  deadline: number,
): Promise<OperationState | null> {
  const active = await deps.storage.repositories.operations.active(dbId);
  if (active === null) return null;
  const joins = JOINED.has(request.kind) && isSame(active, request);
  const ended = await endOf(deps, work, active.id, deadline).catch((error: unknown) => {
    if (joins) throw error;
    return null;
  });
  return joins && ended !== null ? ended : null;
}

async function settle(deps: OperationDeps, work: OwnWork, dbId: string): Promise<Container> {
  const { operations, containers } = deps.storage.repositories;
  const active = await operations.active(dbId);
  // The release of a later lease could be under way: `takeOver` continues that one.
  const isNew = active?.leaseOwner === deps.owner && active.leaseNumber === FIRST_LEASE;
  const isOurs = isNew && !work.running.has(active.id);
  if (active !== null) {
    const deadline = performance.now() + BUSY_AFTER_MS;
    await (isOurs ? workOn(deps, work, active) : endOf(deps, work, active.id, deadline));
    deps.steps.submitted();
  }
  const row = await containers.findAny(dbId);
  if (row === null) throw new Error(`the row of container ${dbId} is gone`);
  return row;
}

/** Another container took the name between the check and the write. */
const nameTaken =
  (request: OperationRequest) =>
  (error: unknown): Result<never, DomainError> => {
    if (!(error instanceof NameTaken)) throw error;
    return request.kind === 'update' || request.kind === 'transfer'
      ? refuse({ code: 'validation_failed', fields: { name: 'is already in use' } })
      : refuse({ code: 'name_taken' });
  };
