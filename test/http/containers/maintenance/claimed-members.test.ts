import t from 'tap';
import { memoryRuntime, type memoryStorage } from '../../../../src/adapters/memory/index.ts';
import { RuntimeBusy, RuntimeUnavailable } from '../../../../src/ports/containers/container-runtime.ts';
import { dumped } from '../../../support/database/dumped.ts';
import { poolOf } from '../../../support/engine/container.ts';
import { waitFor } from '../../../support/patience.ts';
import { aPerson, aService, as, outcome } from '../../../support/service/service.ts';
import { withPool } from '../../../support/service/warm-pool.ts';

t.test('a database that fails over gives no container of a user to the next one', async (t) => {
  const { runtime, service, storage, members, create } = await withPool(t);
  const [dbId = ''] = members;
  const failOver = dumped(storage);
  const { id } = await create({});
  const box = runtime.boxes.get(id);
  await poolOf(storage, 1);
  failOver();
  t.ok((await storage.repositories.warmPool.ids()).has(dbId), 'its row calls it ready again');

  const bob = as(service, await aPerson(service, 'bob'));
  const next = await bob('POST', '/api/containers', { name: 'dev' });
  t.equal(next.statusCode, 201);
  t.not(next.json().db_id, dbId);
  t.not(next.json().id, id);
  await service.reconcile();
  t.equal(box?.startedAt, null, 'a container without a row is stopped');
  await service.reconcile();
  t.ok(runtime.boxes.has(id), 'and is not removed at once');
  service.clock.advance(3_600_000);
  await service.reconcile();
  t.notOk(runtime.boxes.has(id));
  t.ok(runtime.volumes.has(`ws-${dbId}`), 'its volume stays');
});

t.test('a restored database removes no volume of a user, whatever became of the container', async (t) => {
  const FATES: Readonly<Record<string, (runtime: ReturnType<typeof memoryRuntime>, id: string) => void>> = {
    'it runs': () => {},
    'it is stopped': ({ boxes }, id) => Object.assign(boxes.get(id) ?? {}, { startedAt: null }),
    'it is gone': ({ boxes }, id) => void boxes.delete(id),
  };
  for (const [what, befall] of Object.entries(FATES)) {
    for (const state of ['making', 'ready', 'claiming'] as const) {
      const { engine, runtime, service, storage, members, create } = await withPool(t);
      const [dbId = ''] = members;
      const restore = dumped(storage);
      const { id } = await create({});
      await service.warmPool.stop();
      befall(runtime, id);
      restore();
      for (const row of (storage as ReturnType<typeof memoryStorage>).state.warmPool)
        Object.assign(row, { state, leaseUntil: new Date(0) });
      const ports = { ...service.ports, runtime, warmPool: engine };
      const after = await aService(ports, { warmPoolSize: 1 });
      t.teardown(() => after.warmPool.stop());
      after.warmPool.soon();
      await waitFor(async () => (await poolOf(storage, 1))[0] !== dbId);
      await after.reconcile();
      t.ok(runtime.volumes.has(`ws-${dbId}`), `${what}, and its row was ${state}`);
      t.equal(runtime.boxes.get(id)?.startedAt ?? null, null);
    }
  }
});

t.test('a usual restart keeps the members', async (t) => {
  const { engine, runtime, service, storage, members } = await withPool(t, { size: 2 });
  await service.warmPool.stop();
  const after = await aService({ ...service.ports, runtime, warmPool: engine }, { warmPoolSize: 2 });
  t.teardown(() => after.warmPool.stop());
  after.warmPool.soon();
  await after.warmPool.stop();
  t.same(await poolOf(storage, 2), members);
  t.equal(runtime.boxes.size, 2);
  t.equal(runtime.volumes.size, 2);
});

t.test('a create that is refused after it took a member leaves nothing of it', async (t) => {
  const { runtime, service, storage, members, call } = await withPool(t);
  const { claim } = runtime;
  runtime.claim = async (handle) => {
    const isOurs = await claim(handle);
    const { users } = (storage as ReturnType<typeof memoryStorage>).state;
    users.splice(0, users.length, ...users.filter(({ username }) => username !== 'ada'));
    return isOurs;
  };
  t.equal((await call('POST', '/api/containers', { name: 'dev' })).statusCode, 401);
  const [next = ''] = await poolOf(storage, 1);
  t.not(next, members[0]);
  await service.warmPool.stop();
  t.same([...runtime.volumes.keys()], [`ws-${next}`]);
  t.equal(runtime.boxes.size, 1);
});

t.test('a create whose engine stops answering after it took a member leaves nothing of it', async (t) => {
  const { runtime, service, storage, members, call } = await withPool(t);
  const { claim, ping } = runtime;
  const taken = Promise.withResolvers<void>();
  runtime.claim = async (handle) => {
    taken.resolve();
    return await claim(handle);
  };
  runtime.ping = async () => {
    await taken.promise;
    throw new RuntimeUnavailable('the engine does not answer');
  };
  t.match(outcome(await call('POST', '/api/containers', { name: 'dev' })), [500, 'internal_error']);
  runtime.ping = ping;
  const [next = ''] = await poolOf(storage, 1);
  t.not(next, members[0]);
  await service.warmPool.stop();
  t.same([...runtime.volumes.keys()], [`ws-${next}`]);
  t.equal(runtime.boxes.size, 1);
});

t.test('a create whose member the engine cannot claim makes its own container', async (t) => {
  const { runtime, members, call } = await withPool(t);
  runtime.claim = async () => {
    throw new RuntimeBusy('engine_busy', 5);
  };
  const made = await call('POST', '/api/containers', { name: 'dev' });
  t.equal(made.statusCode, 201);
  t.not(made.json().db_id, members[0]);
});

t.test('a create does not wait longer for a member than for its container', async (t) => {
  const { runtime, service, storage, members, call } = await withPool(t, { createWaitMs: 500 });
  const { claim } = runtime;
  const answered = Promise.withResolvers<void>();
  runtime.claim = async (handle) => {
    await answered.promise;
    return await claim(handle);
  };
  const made = await call('POST', '/api/containers', { name: 'dev' });
  t.equal(made.statusCode, 201);
  answered.resolve();
  await service.operations.idle();
  const [next = ''] = await poolOf(storage, 1);
  await service.warmPool.stop();
  t.notOk([members[0], next].includes(made.json().db_id));
  t.same([...runtime.volumes.keys()].toSorted(), [`ws-${next}`, `ws-${made.json().db_id}`].toSorted());
});

t.test('a member that takes long to start is left alone by other processes', async (t) => {
  const runtime = memoryRuntime();
  const { start } = runtime;
  const goOn = Promise.withResolvers<void>();
  let starts = 0;
  runtime.start = async (handle) => {
    starts += 1;
    await goOn.promise;
    await start(handle);
  };
  const { engine, service, storage } = await withPool(t, { runtime, isFilled: false });
  await waitFor(() => starts === 1);
  const ports = { ...service.ports, runtime, warmPool: engine };
  const other = await aService(ports, { warmPoolSize: 1 });
  t.teardown(() => other.warmPool.stop());
  for (let seconds = 0; seconds < 600; seconds += 100) {
    service.clock.advance(100_000);
    await service.warmPool.renew();
  }
  other.warmPool.soon();
  await other.warmPool.stop();
  t.equal(starts, 1, 'which make none in its place');
  goOn.resolve();
  await poolOf(storage, 1);
  t.same([runtime.boxes.size, runtime.volumes.size], [1, 1]);
});

t.test('the upkeep of the pool removes no member that a create takes meanwhile', async (t) => {
  const { runtime, service, members, create } = await withPool(t);
  const { list, findMember, claim } = runtime;
  const claimed = Promise.withResolvers<void>();
  let creating: ReturnType<typeof create> | undefined;
  runtime.list = async () => [];
  runtime.claim = async (handle) => {
    claimed.resolve();
    return await claim(handle);
  };
  runtime.findMember = async (dbId) => {
    const found = await findMember(dbId);
    if (creating === undefined) {
      creating = create({});
      await claimed.promise;
      runtime.list = list;
    }
    return found;
  };
  service.warmPool.soon();
  await waitFor(() => creating !== undefined);
  const made = await creating;
  await service.warmPool.stop();
  t.match(made, { db_id: members[0], status: 'running' });
  t.ok(runtime.boxes.get(made.id)?.startedAt);
  t.ok(runtime.volumes.has(`ws-${members[0]}`));
});

t.test('the upkeep of the pool keeps the row of a member that a create takes meanwhile', async (t) => {
  const { runtime, service, members, create } = await withPool(t);
  const { list, claim } = runtime;
  const claimed = Promise.withResolvers<void>();
  const passed = Promise.withResolvers<void>();
  let creating: ReturnType<typeof create> | undefined;
  runtime.claim = async (handle) => {
    const isOurs = await claim(handle);
    claimed.resolve();
    await passed.promise;
    return isOurs;
  };
  runtime.list = async () => {
    creating ??= create({});
    await claimed.promise;
    return await list();
  };
  service.warmPool.soon();
  await waitFor(() => runtime.boxes.size === 2, { what: 'another member in its place' });
  passed.resolve();
  t.match(await creating, { db_id: members[0], status: 'running' });
});
