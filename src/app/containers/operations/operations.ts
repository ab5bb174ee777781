import { poll } from '../../../concurrency/poll.ts';
import { within } from '../../../concurrency/timeout.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { NameTaken } from '../../../ports/containers/container-repository.ts';
import type { StoredOperation } from '../../../ports/containers/operation-repository.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { AsyncResult } from '../../async-result.ts';
import { beginOperation, type Prepare } from './begin-operation.ts';
import { execute, type KnownAtStart, rowOf } from './execute-operation.ts';
import { newOperation, type OperationRequest, stateDuring } from './new-operation.ts';
import {
  type EngineReady,
  isUnderWay,
  LEASE_SECONDS,
  type OperationDeps,
  type OperationState,
} from './operation-deps.ts';

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
const POLL_MS = 100;

type InProgress = {
  readonly running: Map<string, Promise<OperationState>>;
  /** Leases that could not be released while the database did not answer: still ours. */
  readonly unreleased: Set<string>;
  hasTakenOver: boolean;
};

const nothingInProgress = (): InProgress => ({
  running: new Map(),
  unreleased: new Set(),
  hasTakenOver: false,
});

export type Operations = ReturnType<typeof operations>;

/** Begins operations, joins those of the same kind, and waits for others. */
export function operations(deps: OperationDeps) {
  const progress = nothingInProgress();
  return {
    /**
     * Executes a request, or joins an operation of the same kind. Returns the operation and its row; the outcome is
     * null when it continues in the background. Throws when the request is not done and will not be.
     */
    submit: async (
      dbId: string,
      request: OperationRequest,
      prepare: Prepare,
      engine: EngineReady = { answers: deps.runtime.ping() },
    ): AsyncResult<OperationState> => {
      const done = await submit(deps, progress, { dbId, request, prepare, engine });
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
    settle: (dbId: string): Promise<Container> => settle(deps, progress, dbId),

    /** For a timer. */
    renew: (): Promise<void> => renewLeases(deps, progress),

    /** Takes over operations of another process or an earlier run. */
    takeOver: (): Promise<void> => takeOver(deps, progress),

    idle: async (): Promise<void> => void (await Promise.allSettled(progress.running.values())),
  };
}

type Submission = {
  readonly dbId: string;
  readonly request: OperationRequest;
  readonly prepare: Prepare;
  readonly engine: EngineReady;
};

async function submit(
  deps: OperationDeps,
  progress: InProgress,
  { dbId, request, prepare, engine }: Submission,
): AsyncResult<OperationState> {
  // An operation that could not begin is not recorded.
  await engine.answers;
  const deadline = performance.now() + BUSY_AFTER_MS;
  while (performance.now() < deadline) {
    const begun = await beginOperation(deps, request, prepare, engine).catch(nameTaken(request));
    if (!begun.ok) return begun;
    if (begun.value !== null) {
      const { operation, begun: known } = begun.value;
      return await workOn(deps, progress, operation, known).then(ok<OperationState>, nameTaken(request));
    }
    const joined = await behindActive(deps, progress, dbId, request, deadline);
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
  progress: InProgress,
  dbId: string,
  request: OperationRequest,
  deadline: number,
): Promise<OperationState | null> {
  const active = await deps.storage.repositories.operations.active(dbId);
  if (active === null) return null;
  const joins = JOINED.has(request.kind) && isSame(active, request);
  const ended = await endOf(deps, progress, active.id, deadline).catch((error: unknown) => {
    if (joins) throw error;
    return null;
  });
  return joins && ended !== null ? ended : null;
}

async function settle(deps: OperationDeps, progress: InProgress, dbId: string): Promise<Container> {
  const { operations, containers } = deps.storage.repositories;
  const active = await operations.active(dbId);
  const isOurs = active?.leaseOwner === deps.owner && !progress.running.has(active.id);
  if (active !== null) {
    const deadline = performance.now() + BUSY_AFTER_MS;
    await (isOurs ? workOn(deps, progress, active) : endOf(deps, progress, active.id, deadline));
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

/**
 * Works on an operation whose lease this process has, until it is committed; what it replaced is removed after that. If
 * it does not end, the lease is released.
 */
function workOn(
  deps: OperationDeps,
  progress: InProgress,
  operation: StoredOperation,
  begun: KnownAtStart = {},
): Promise<OperationState> {
  const committed = Promise.withResolvers<OperationState>();
  const done = execute(deps, operation, begun, committed.resolve).then(
    async (left) => {
      if (left.operation.outcome === null) await releaseOrRemember(deps, progress, operation.id);
      return asItShows(left);
    },
    async (error: unknown) => {
      await releaseOrRemember(deps, progress, operation.id);
      throw error;
    },
  );
  progress.running.set(operation.id, done);
  const forget = (): void => void progress.running.delete(operation.id);
  done.then(forget, forget);
  return Promise.race([committed.promise, done]);
}

/** The end of an operation that another request began, in any process; null after the time limit. */
async function endOf(
  deps: OperationDeps,
  { running }: InProgress,
  id: string,
  deadline: number,
): Promise<OperationState | null> {
  const here = running.get(id);
  const withinMs = deadline - performance.now();
  if (here !== undefined) return await within(withinMs, here, null);
  const over = await poll(
    async () => {
      const operation = await deps.storage.repositories.operations.find(id);
      return operation?.outcome === null ? null : { operation };
    },
    { withinMs, everyMs: POLL_MS },
  );
  const operation = over?.operation ?? null;
  return operation && { operation, container: await rowOf(deps, operation) };
}

/** Renews the leases of the work in progress, and retries failed releases. */
async function renewLeases(deps: OperationDeps, progress: InProgress): Promise<void> {
  const { storage, owner } = deps;
  await storage.repositories.operations.renew(owner, [...progress.running.keys()], LEASE_SECONDS);
  await Promise.all([...progress.unreleased].map((id) => release(deps, progress, id)));
}

/**
 * Takes over abandoned operations. The first call, before any new work, includes those of an earlier run of this
 * replica.
 */
async function takeOver(deps: OperationDeps, progress: InProgress): Promise<void> {
  const { storage, owner, log } = deps;
  const isFirst = !progress.hasTakenOver;
  const taken = await storage.repositories.operations.takeOver(owner, LEASE_SECONDS, isFirst);
  progress.hasTakenOver = true;
  for (const operation of taken) {
    if (progress.running.has(operation.id)) continue;
    log.warn({ dbId: operation.dbId, kind: operation.kind }, 'continuing an unfinished operation');
    workOn(deps, progress, operation).catch((err: unknown) => log.warn({ err }, 'the operation failed'));
  }
}

async function release({ storage, owner }: OperationDeps, progress: InProgress, id: string): Promise<void> {
  await storage.repositories.operations.release(id, owner);
  progress.unreleased.delete(id);
}

const releaseOrRemember = async (deps: OperationDeps, progress: InProgress, id: string): Promise<void> =>
  void (await release(deps, progress, id).catch(() => progress.unreleased.add(id)));

/** The row as other requests see it during the operation. */
const asItShows = (left: OperationState): OperationState =>
  isUnderWay(left)
    ? {
        ...left,
        container: { ...left.container, state: stateDuring(left.operation.kind, left.container.state) },
      }
    : left;
