import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result, refuse } from '../../../domain/result.ts';
import { NameTaken } from '../../../ports/containers/container-repository.ts';
import { beginOperation, type Prepare } from './begin-operation.ts';
import type { OperationRequest } from './new-operation.ts';
import type { OperationDeps, OperationState } from './operation-deps.ts';
import {
  endOf,
  type InProgress,
  nothingInProgress,
  renewLeases,
  takeOver,
  workOn,
} from './operations-in-progress.ts';

const BUSY_AFTER_MS = 30_000;

export type Operations = ReturnType<typeof operations>;

/** Begins operations, joins those of the same kind, and waits for others. */
export function operations(deps: OperationDeps) {
  const progress = nothingInProgress();
  return {
    /**
     * Executes a request, or joins an operation of the same kind. Returns the operation and its row; the outcome is
     * null when a retry continues it. Throws when the request is not done and will not be. `answering`: the answer to a
     * ping already sent.
     */
    submit: (dbId: string, request: OperationRequest, prepare: Prepare, answering = deps.runtime.ping()) =>
      submit(deps, progress, { dbId, request, prepare, answering }),

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
  readonly answering: Promise<void>;
};

async function submit(
  deps: OperationDeps,
  progress: InProgress,
  { dbId, request, prepare, answering }: Submission,
): Promise<Result<OperationState, DomainError>> {
  // An operation that could not begin is not recorded.
  await answering;
  const deadline = performance.now() + BUSY_AFTER_MS;
  while (performance.now() < deadline) {
    const begun = await beginOperation(deps, request, prepare).catch(nameTaken(request));
    if (!begun.ok) return begun;
    if (begun.value !== null) {
      const { operation, begun: known } = begun.value;
      return await workOn(deps, progress, operation, known).then(ok<OperationState>, nameTaken(request));
    }
    const joined = await behindActive(deps, progress, dbId, request, deadline);
    if (joined?.operation.outcome === 'failed') throw new Error('the joined operation failed');
    if (joined !== null) return ok(joined);
  }
  return refuse({ code: 'container_busy' });
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
  const joins = active.kind === request.kind && request.kind !== 'update';
  const ended = await endOf(deps, progress, active.id, deadline).catch((error: unknown) => {
    if (joins) throw error;
    return null;
  });
  return joins && ended !== null ? ended : null;
}

/** Another container took the name between the check and the write. */
const nameTaken =
  (request: OperationRequest) =>
  (error: unknown): Result<never, DomainError> => {
    if (!(error instanceof NameTaken)) throw error;
    return request.kind === 'update'
      ? refuse({ code: 'validation_failed', fields: { name: 'is already in use' } })
      : refuse({ code: 'name_taken' });
  };
