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

/** Begins operations, joins those of the same kind, and waits for those of another kind. */
export function operations(deps: OperationDeps) {
  const progress = nothingInProgress();
  return {
    /**
     * Carries a wish out, or joins one of the same kind. Answers the operation and the row as it has left it; the
     * outcome is null when the operation goes on by another try. Throws when what was asked for is not done and will
     * not be. `answering` is the engine's answer to a ping that was sent already.
     */
    submit: (dbId: string, request: OperationRequest, prepare: Prepare, answering = deps.runtime.ping()) =>
      submit(deps, progress, { dbId, request, prepare, answering }),

    /** Renews the leases of the work in progress; for a timer. */
    renew: (): Promise<void> => renewLeases(deps, progress),

    /** Continues what another process, or an earlier run of this one, has left. */
    takeOver: (): Promise<void> => takeOver(deps, progress),

    /** Waits until nothing is being worked on. */
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
  // Nothing is written down that could not even begin.
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

/** Waits behind the active operation. Its end is the answer when it was of the same kind. */
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

/** Another container got the name between the check and the write. */
const nameTaken =
  (request: OperationRequest) =>
  (error: unknown): Result<never, DomainError> => {
    if (!(error instanceof NameTaken)) throw error;
    return request.kind === 'update'
      ? refuse({ code: 'validation_failed', fields: { name: 'is already in use' } })
      : refuse({ code: 'name_taken' });
  };
