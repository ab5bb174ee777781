import { randomUUID } from 'node:crypto';
import t from 'tap';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { auditOf } from '../support/sign-ins.ts';

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

async function aBox() {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const path = `/api/containers/${box.db_id}`;
  const patch = (over: object) => call('PATCH', path, { name: 'dev', ...small, ...over });
  const now = async () => (await call('GET', path)).json();
  return { runtime, service, call, path, patch, now, dbId: box.db_id as string };
}

t.test('an update never stands for another one: both are done, the later one last', async (t) => {
  const { runtime, service, patch, now } = await aBox();
  const { operations } = service.ports.storage.repositories;
  const { active } = operations;
  const { create } = runtime;
  let second: ReturnType<typeof patch> | undefined;
  // The first goes on once the second has found it under way.
  const waits = new Promise<void>((resolve) => {
    operations.active = async (id) => {
      const found = await active(id);
      resolve();
      return found;
    };
  });
  runtime.create = async (spec) => {
    second ??= patch({ memory_mb: 1024 });
    await waits;
    return await create(spec);
  };
  t.match((await patch({ memory_mb: 512 })).json(), { container: { resources: { memory_mb: 512 } } });
  t.match((await second)?.json(), { restarted: true, container: { resources: { memory_mb: 1024 } } });
  t.match(await now(), { status: 'running', resources: { memory_mb: 1024 } });
  t.equal(runtime.boxes.size, 1);
});

t.test('a process whose operation was taken over writes nothing of its outcome', async (t) => {
  const { runtime, service, call, path, dbId, now } = await aBox();
  const { operations } = service.ports.storage.repositories;
  const { stop } = runtime;
  const other = randomUUID();
  runtime.stop = async (handle, grace) => {
    const mine = await operations.active(dbId);
    if (mine === null) throw new Error('nothing is under way');
    await operations.release(mine.id, mine.leaseOwner);
    t.equal((await operations.takeOver(other, 60, false)).length, 1);
    return await stop(handle, grace);
  };
  await call('POST', `${path}/stop`);
  t.match(await operations.active(dbId), { leaseOwner: other, outcome: null });
  t.match(await now(), { status: 'stopping' });
  t.same(auditOf(service, 'container_stopped'), [], 'that is for the one that has it now');
});

t.test('what was seen of a container is not told of the one that has replaced it', async (t) => {
  const { runtime, service, patch, now } = await aBox();
  const { list } = runtime;
  runtime.list = async () => {
    runtime.list = list;
    await patch({ memory_mb: 512 });
    return await list();
  };
  await service.reconcile();
  t.match(await now(), { status: 'running', status_reason: null, resources: { memory_mb: 512 } });
});
