import type { EngineRefusal } from '../../../domain/errors.ts';
import { type Result, refuse } from '../../../domain/result.ts';
import {
  EngineFull,
  ImageUnavailable,
  NodeInMaintenance,
  RightMissing,
  RuntimeBusy,
} from '../../../ports/containers/container-runtime.ts';

/** What a fault of an engine says of a lack; null for any other fault. */
export function refusalIn(error: unknown): EngineRefusal | null {
  if (error instanceof ImageUnavailable) return { code: 'image_unavailable' };
  if (error instanceof EngineFull) return { code: 'engine_full' };
  if (error instanceof NodeInMaintenance) return { code: 'node_in_maintenance' };
  if (error instanceof RightMissing) return { code: 'engine_right_missing', right: error.right };
  if (error instanceof RuntimeBusy) return { code: error.code, retryAfterSeconds: error.retryAfterSeconds };
  return null;
}

/** Turns such a fault into a refusal, once the operation is rolled back. */
export function engineRefusal(error: unknown): Result<never, EngineRefusal> {
  const refusal = refusalIn(error);
  if (refusal === null) throw error;
  return refuse(refusal);
}
