import type { memoryStorage } from '../../../src/adapters/memory/index.ts';
import type { Storage } from '../../../src/ports/storage.ts';

/** What an in-memory database knows of containers now; returns its restore. */
export function dumped(storage: Storage): () => void {
  const { state } = storage as ReturnType<typeof memoryStorage>;
  const { warmPool, containers, operations, orphans, volumes } = state;
  const rows = structuredClone({ warmPool, containers, operations, orphans, volumes });
  return () => void Object.assign(state, structuredClone(rows));
}
