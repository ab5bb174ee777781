import t from 'tap';
import { memoryKernelShares, memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { MemoryState } from '../../src/adapters/memory/state.ts';
import { kernelSharesContract } from '../contract/kernel-shares.ts';
import { aSpec } from '../support/container-spec.ts';
import { aPerson, aService, as } from '../support/service.ts';

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

t.test('what is asked of the watcher', async (t) => {
  const runtime = memoryRuntime();
  const handle = await runtime.create(aSpec('any'));
  await runtime.start(handle);
  await kernelSharesContract(t, {
    shares: memoryKernelShares(runtime),
    runtimeId: handle.runtimeId,
    stop: () => runtime.stop(handle, 0),
  });
});

t.test(
  'a container that takes a counter from all others is stopped, and its owner is on record',
  async (t) => {
    const runtime = memoryRuntime();
    const kernelShares = memoryKernelShares(runtime);
    const service = await aService({ runtime, kernelShares });
    const [ada, mallory] = [await aPerson(service, 'ada'), await aPerson(service, 'mallory')];
    const { state } = service.ports.storage as unknown as { state: MemoryState };
    const make = async (who: typeof ada) =>
      (await as(service, who)('POST', '/api/containers', { name: 'dev', ...small })).json();
    const [theirs, hers] = [await make(mallory), await make(ada)];
    const now = async (who: typeof ada, id: string) =>
      (await as(service, who)('GET', `/api/containers/${id}`)).json();

    kernelShares.taken.set(theirs.id, { inotifyInstances: 400 });
    kernelShares.taken.set(hers.id, { inotifyInstances: 100 });
    await service.watchKernelShares();
    t.match(await now(mallory, theirs.db_id), { status: 'running' }, 'enough is left');

    kernelShares.taken.set(theirs.id, { inotifyInstances: 401 });
    await service.watchKernelShares();
    t.match(await now(mallory, theirs.db_id), {
      status: 'stopped',
      status_reason: /^it used 401 of 1000 inotify instances that all containers share/,
    });
    t.match(await now(ada, hers.db_id), { status: 'running' });
    const records = state.audit.filter(({ action }) => action === 'container_over_share');
    t.match(records, [{ userId: mallory.id, userAgent: 'berth' }]);
    t.same(JSON.parse(records[0]?.details ?? ''), {
      container_id: theirs.db_id,
      counter: 'inotifyInstances',
      used: 401,
      limit: 1000,
    });
    await service.watchKernelShares();
    t.equal(state.audit.filter(({ action }) => action === 'container_over_share').length, 1, 'once');
  },
);
