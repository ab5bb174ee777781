/**
 * One process of the service with an engine that is only in its memory: it has the containers that the database names.
 * Argument: the database's address.
 */
import {
  type MemoryRuntime,
  memoryRuntime,
} from '../../../src/adapters/memory/containers/container-runtime.ts';
import type { Container } from '../../../src/domain/containers/container.ts';
import { serveOn } from './fleet/serve.ts';

await serveOn(process.argv[2] ?? '', async ({ repositories }) => {
  const runtime = memoryRuntime('local');
  for (const row of await repositories.containers.listAllLive()) place(runtime, row);
  return runtime;
});

function place(runtime: MemoryRuntime, row: Container): void {
  const { dbId, ownerId, generation, image, volume, resources, env, runtimeId } = row;
  if (runtimeId === null) return;
  const named = { dbId, ownerId, generation, operationId: null, hostname: row.name };
  const spec = { ...named, image, volume, resources, env };
  runtime.boxes.set(runtimeId, {
    spec,
    handle: { node: 'local', runtimeId },
    startedAt: row.startedAt,
    paused: false,
    isMember: false,
  });
  runtime.volumes.set(volume, { quota: 'soft', usedBytes: 0, isResizable: true });
}
