import { RuntimeUnavailable } from '../ports/containers/container-runtime.ts';

/**
 * A question to an engine that was already asked to act: while it does not answer, nothing is known. `unknown`: the
 * result then.
 */
export async function patiently<T>(question: () => Promise<T>, unknown: T): Promise<T> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return unknown;
    throw error;
  }
}
