import t from 'tap';
import type { memoryRuntime, memoryStorage } from '../../../../src/adapters/memory/index.ts';
import { RuntimeBusy } from '../../../../src/ports/containers/container-runtime.ts';
import { dumped } from '../../../support/database/dumped.ts';
import { ageVolumeIn } from '../../../support/engine/container.ts';
import { aServiceInTime } from '../../../support/service/factors.ts';
import { aPerson, as, outcome, small } from '../../../support/service/service.ts';

const HOUR_MS = 3_600_000;

/** A container of Ada's; `dump` notes what the database knows of containers, and returns its restore. */
async function aScene() {
  const service = await aServiceInTime();
  const runtime = service.ports.runtime as ReturnType<typeof memoryRuntime>;
  const call = as(service, await aPerson(service, 'ada'));
  const { db_id, id } = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const url = `/api/containers/${db_id}`;
  const ageVolume = ageVolumeIn(service.ports.storage as ReturnType<typeof memoryStorage>);
  return {
    service,
    runtime,
    call,
    id: id as string,
    url,
    volume: `ws-${db_id}`,
    /** Lets hours pass for its volume. */
    age: async (hours: number) => await ageVolume(db_id, hours),
    dump: () => dumped(service.ports.storage),
    now: async () => (await call('GET', url)).json(),
    post: (action: string) => call('POST', `${url}/${action}`),
    /** Recreates it, so often. */
    recreate: async (times: number): Promise<string> => {
      for (let n = 0; n < times; n += 1)
        await call('PATCH', url, { name: 'dev', ...small, memory_mb: small.memory_mb + 64 * (n + 1) });
      await service.operations.idle();
      return (await call('GET', url)).json().id as string;
    },
    running: () => [...runtime.boxes].flatMap(([id, { startedAt }]) => (startedAt === null ? [] : [id])),
  };
}

t.test('a container that was recreated since runs on', async (t) => {
  for (const times of [1, 2, 3]) {
    const { service, runtime, id, dump, recreate, now, post } = await aScene();
    const restore = dump();
    const later = await recreate(times);
    t.not(later, id);
    restore();
    const before = runtime.boxes.get(later)?.startedAt;
    await service.reconcile();
    t.match(await now(), { id: later, status: 'running', status_reason: null });
    await service.reconcile();
    service.clock.advance(HOUR_MS);
    await service.reconcile();
    t.equal(runtime.boxes.get(later)?.startedAt, before, 'it was never stopped');
    t.equal(runtime.boxes.size, 1);
    t.equal((await post('stop')).statusCode, 200);
    t.equal((await post('start')).statusCode, 200);
    t.match(await now(), { id: later, status: 'running' });
    t.not(await recreate(1), later, 'and it works on');
    t.match(await now(), { status: 'running' });
  }
});

t.test('one that was recreated and stopped since stays stopped', async (t) => {
  const { service, dump, recreate, now, post, running } = await aScene();
  const restore = dump();
  const later = await recreate(1);
  await post('stop');
  restore();
  await service.reconcile();
  t.match(await now(), { id: later, status: 'stopped' });
  t.same(running(), []);
});

t.test('a start before the first pass puts no second container on the volume', async (t) => {
  const { service, dump, recreate, now, post, running } = await aScene();
  await post('stop');
  const restore = dump();
  await post('start');
  const later = await recreate(2);
  restore();
  t.match(outcome(await post('start')), [503, 'container_unresponsive']);
  t.same(running(), [later]);
  await service.reconcile();
  t.match(await now(), { id: later, status: 'running' });
  t.equal((await post('start')).statusCode, 200);
  t.same(running(), [later]);
});

t.test('a container that exists is never replaced by a stray one of a later generation', async (t) => {
  const { service, runtime, id, now, running } = await aScene();
  const spec = runtime.boxes.get(id)?.spec;
  if (spec === undefined) throw new Error('the engine does not have it');
  await runtime.start(await runtime.create({ ...spec, generation: 2 }));
  await service.reconcile();
  t.match(await now(), { id, status: 'running' });
  t.same(running(), [id], 'the stray one is stopped');
});

t.test('the volume of one that was restored since is kept, and it can be restored again', async (t) => {
  const { service, runtime, call, url, volume, dump, post, running, age } = await aScene();
  await call('DELETE', url);
  await age(7 * 24);
  await service.collectVolumes();
  await age(23);
  const restore = dump();
  t.equal((await post('restore')).statusCode, 200);
  await post('start');
  const [later = ''] = running();
  restore();
  await age(2);
  await service.collectVolumes();
  t.ok(runtime.volumes.has(volume), 'not while there is a container');
  await service.reconcile();
  t.same(running(), []);
  t.ok(runtime.boxes.has(later), 'it is stopped, not removed');
  service.clock.advance(HOUR_MS);
  await service.reconcile();
  t.notOk(runtime.boxes.has(later), 'but an hour later');
  await service.collectVolumes();
  await age(7 * 24 - 2);
  await service.collectVolumes();
  t.ok(runtime.volumes.has(volume), 'the retention has begun anew');
  t.equal((await post('restore')).statusCode, 200);
  t.equal((await post('start')).statusCode, 200);
});

t.test('what a failed restore has left on a silent node is no sign of a restored database', async (t) => {
  const { service, runtime, call, url, post } = await aScene();
  await call('DELETE', url);
  const { create, observe, remove, start } = runtime;
  const isSilent = async (): Promise<never> => {
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  runtime.create = async (spec) => {
    await create(spec);
    Object.assign(runtime, { observe: isSilent, remove: isSilent, start: isSilent });
    return await isSilent();
  };
  t.match(outcome(await post('restore')), [503, 'container_unresponsive']);
  t.equal(runtime.boxes.size, 1);
  Object.assign(runtime, { create, observe, remove, start });
  await service.reconcile();
  t.equal(runtime.boxes.size, 0, 'it is removed at once');
  t.equal((await post('restore')).statusCode, 200);
});
