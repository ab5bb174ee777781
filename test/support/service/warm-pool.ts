import type { Test } from 'tap';
import { memoryRuntime, memoryWarmPoolEngine } from '../../../src/adapters/memory/index.ts';
import { poolOf } from '../engine/container.ts';
import { aPerson, aService, as } from './service.ts';

/** A service with a warm pool, and Ada's calls. */
export async function withPool(
  t: Test,
  {
    size = 1,
    isFilled = true,
    runtime = memoryRuntime(),
    engine = memoryWarmPoolEngine(),
    createWaitMs = 20_000,
  } = {},
) {
  const service = await aService({ runtime, warmPool: engine }, { warmPoolSize: size, createWaitMs });
  t.teardown(() => service.warmPool.stop());
  service.warmPool.soon();
  const { storage } = service.ports;
  const members = await poolOf(storage, isFilled ? size : 0);
  const call = as(service, await aPerson(service, 'ada'));
  const create = async (body: object) =>
    (await call('POST', '/api/containers', { name: 'dev', ...body })).json();
  return { runtime, engine, service, storage, members, call, create };
}
