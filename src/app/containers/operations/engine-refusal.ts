import type { DomainError } from '../../../domain/errors.ts';
import { type Result, refuse } from '../../../domain/result.ts';
import { EngineFull, ImageUnavailable, RuntimeBusy } from '../../../ports/containers/container-runtime.ts';

/** Turns what an engine lacks for a container, or cannot do now, into a refusal, once the operation is rolled back. */
export const engineRefusal = (error: unknown): Result<never, DomainError> => {
  if (error instanceof ImageUnavailable) return refuse({ code: 'image_unavailable' });
  if (error instanceof EngineFull) return refuse({ code: 'engine_full' });
  if (error instanceof RuntimeBusy)
    return refuse({ code: error.code, retryAfterSeconds: error.retryAfterSeconds });
  throw error;
};
