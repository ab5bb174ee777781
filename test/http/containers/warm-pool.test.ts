import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { memoryRuntime, memoryWarmPoolEngine } from '../../../src/adapters/memory/index.ts';
import { defaultResources } from '../../../src/domain/containers/resources.ts';
import { NodeInMaintenance, RuntimeBusy } from '../../../src/ports/containers/container-runtime.ts';
import { NOBODY } from '../../support/database/stored.ts';
import { poolOf } from '../../support/engine/container.ts';
import { waitFor } from '../../support/patience.ts';
import { aPerson, aService, as, outcome } from '../../support/service/service.ts';
import { withPool } from '../../support/service/warm-pool.ts';

t.test('a create takes a started container, with the requested limits', async (t) => {
  const { runtime, storage, members, create } = await withPool(t);
  const made = await create({ memory_mb: 1024, cpu_shares: 1500, disk_mb: 2048 });
  t.match(made, {
    db_id: members[0],
    status: 'running',
    name: 'dev',
    resources: { memory_mb: 1024, cpu_shares: 1500, disk_mb: 2048 },
    volume: { name: `ws-${members[0]}` },
  });
  const box = runtime.boxes.get(made.id);
  t.same(box?.spec.resources, { memoryMb: 1024, cpuMillicores: 1500, diskMb: 2048 });
  const [next] = await poolOf(storage, 1);
  t.not(next, members[0], 'and another one takes its place');
});

t.test('a create does not share the engine with the upkeep of the pool', async (t) => {
  const { runtime, storage, create } = await withPool(t);
  const { list } = storage.repositories.warmPool;
  let isAnswered = false;
  const seen: boolean[] = [];
  storage.repositories.warmPool.list = (...args) => {
    seen.push(isAnswered);
    return list(...args);
  };
  const { resize } = runtime;
  runtime.resize = async (...args) => {
    await setImmediate();
    await resize(...args);
  };
  await create({ memory_mb: 1024 });
  isAnswered = true;
  await waitFor(() => seen.length > 0);
  t.same(seen[0], true);
});

t.test("the answer shows how the member's volume size is enforced", async (t) => {
  const runtime = memoryRuntime();
  const { volumeFacts } = runtime;
  runtime.volumeFacts = async (volume) => {
    const facts = await volumeFacts(volume);
    return facts && { ...facts, quota: 'hard' };
  };
  Object.assign(runtime, { diskQuota: 'hard' });
  for (const resources of [{}, { memory_mb: 1024 }]) {
    const { members, create } = await withPool(t, { runtime });
    t.match(await create(resources), { db_id: members[0], volume: { quota: 'hard' } });
  }
});

t.test('limits that a member already has are not set again', async (t) => {
  const runtime = memoryRuntime();
  const asked: string[] = [];
  runtime.resize = async ({ runtimeId }) => void asked.push(runtimeId);
  const { members, create } = await withPool(t, { runtime });
  t.match(await create({}), { db_id: members[0], status: 'running' });
  t.same(asked, []);
});

t.test('a create with settings fixed at creation makes its own container', async (t) => {
  const { service, storage, members, call, create } = await withPool(t);
  const { state } = service.ports.storage as typeof storage & { state: { images: object[] } };
  state.images.push({ key: 'other', label: 'Other', reference: 'other:1', digest: null, shell: '/bin/sh' });
  t.not((await create({ env: { A: 'b' } })).db_id, members[0], 'an environment');
  t.not((await create({ name: 'two', image: 'other' })).db_id, members[0], 'another image');
  t.equal(
    (await call('POST', '/api/containers', { name: 'dev' })).statusCode,
    409,
    'a refused one takes none',
  );
  t.equal((await call('POST', '/api/containers', { name: 'x', memory_mb: 1 })).statusCode, 400);
  t.same(await poolOf(storage, 1), members, 'and the pool is as it was');
});

t.test('an ended member is started, and in place of a vanished one a new container is made', async (t) => {
  for (const gone of [false, true]) {
    const { runtime, members, create } = await withPool(t);
    for (const box of runtime.boxes.values()) {
      box.startedAt = null;
      if (gone) runtime.boxes.delete(box.handle.runtimeId);
    }
    const { db_id, status } = await create({});
    t.match([db_id === members[0], status], [!gone, 'running']);
  }
});

t.test('members belong to nobody, are left alone by the reconciler, and are invisible', async (t) => {
  const { runtime, service, members, call } = await withPool(t);
  await service.reconcile();
  t.match([...runtime.boxes.values()], [{ spec: { ownerId: null, dbId: members[0] }, startedAt: Date }]);
  t.same((await call('GET', '/api/containers')).json(), { containers: [], total: 0 });
  t.equal((await call('POST', `/api/containers/${members[0]}/stop`)).statusCode, 404);
});

t.test('a member claimed during a reconciliation keeps running', async (t) => {
  const { runtime, service, storage, members, create } = await withPool(t);
  const { operations } = storage.repositories;
  const [busy, resize] = [operations.busy, runtime.resize];
  let creating: Promise<unknown> | undefined;
  const [goOn, claimed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  runtime.resize = async (...args) => {
    claimed.resolve();
    await goOn.promise;
    await resize(...args);
  };
  operations.busy = async () => {
    const before = await busy();
    creating ??= create({ memory_mb: 1024 });
    await claimed.promise;
    return before;
  };
  await service.reconcile();
  t.match([...runtime.boxes.values()], [{ spec: { dbId: members[0] }, startedAt: Date }]);
  goOn.resolve();
  t.match(await creating, { db_id: members[0], status: 'running' });
});

t.test('a new image replaces all members', async (t) => {
  const { runtime, engine, service, storage, members } = await withPool(t, { size: 2 });
  engine.images.set('berth/debian:12', { id: 'sha256:new', isOlder: false });
  service.warmPool.soon();
  await waitFor(async () => !(await poolOf(storage, 2)).some((id) => members.includes(id)));
  t.same([runtime.boxes.size, runtime.volumes.size], [2, 2]);
});

t.test('with size 0 nothing is made, and earlier members are removed', async (t) => {
  const { runtime, storage, engine, service } = await withPool(t, { size: 2 });
  await service.warmPool.stop();
  const off = await aService({ ...service.ports, runtime, warmPool: engine }, { warmPoolSize: 0 });
  off.warmPool.soon();
  await poolOf(storage, 0);
  await off.warmPool.stop();
  t.same([runtime.boxes.size, runtime.volumes.size], [0, 0]);
  const made = await as(off, await aPerson(off, 'bob'))('POST', '/api/containers', { name: 'dev' });
  t.equal(made.statusCode, 201);
  await poolOf(storage, 0);
});

t.test("below the host's floor no member is made until there is space", async (t) => {
  const runtime = memoryRuntime();
  const spaces = [{ totalBytes: 1e12, freeBytes: 1e6, isPool: false }];
  let checks = 0;
  runtime.hostSpace = async () => {
    checks += 1;
    return spaces;
  };
  const { service, storage } = await withPool(t, { runtime, isFilled: false });
  await waitFor(() => checks > 0);
  t.same([await poolOf(storage, 0), runtime.boxes.size], [[], 0]);
  spaces.pop();
  service.warmPool.soon();
  t.equal((await poolOf(storage, 1)).length, 1);
});

t.test('a member that does not start leaves nothing', async (t) => {
  const runtime = memoryRuntime();
  const { start } = runtime;
  let refusals = 0;
  runtime.start = async (handle) => {
    refusals += 1;
    throw new Error(`no room for ${handle.runtimeId}`);
  };
  const { service, storage } = await withPool(t, { runtime, isFilled: false });
  await waitFor(() => refusals > 0 && runtime.boxes.size === 0);
  t.equal(runtime.volumes.size, 0);
  runtime.start = start;
  service.warmPool.soon();
  t.equal((await poolOf(storage, 1)).length, 1, 'and the next try works');
});

t.test('without the image in the engine no member is made, and a create makes its own', async (t) => {
  const engine = memoryWarmPoolEngine();
  const { namedImage } = engine;
  let checks = 0;
  const gate = Promise.withResolvers<void>();
  engine.namedImage = async (reference) => {
    checks += 1;
    await gate.promise;
    return await namedImage(reference);
  };
  engine.images.set('berth/debian:12', null);
  const { runtime, service, storage, create } = await withPool(t, { engine, isFilled: false });
  await waitFor(() => checks === 1);
  service.warmPool.soon();
  gate.resolve();
  await waitFor(() => checks === 2, { what: 'the second pass, which was asked for during the first' });
  t.same([await poolOf(storage, 0), runtime.boxes.size], [[], 0]);
  t.match(await create({}), { name: 'dev', status: 'running' });
  t.equal(runtime.boxes.size, 1);
});

t.test('with an older image, members of the new one stay while they run', async (t) => {
  const { engine, runtime, storage, service, members, create } = await withPool(t, { size: 2 });
  const older = { id: 'an older image', isOlder: true };
  engine.images.set('berth/debian:12', older);
  const [lost, kept] = members;
  const { list } = runtime;
  runtime.list = async () => (await list()).filter(({ dbId }) => dbId !== lost);
  service.warmPool.soon();
  t.same(
    await poolOf(storage, 1),
    [kept],
    'a member that is lost is removed, and none is made beside the other',
  );
  t.not((await create({})).db_id, kept, 'which only a process with the new image gives out');

  engine.images.delete('berth/debian:12');
  service.warmPool.soon();
  await poolOf(storage, 2);
  t.match(await create({ name: 'another' }), { db_id: kept });
});

t.test('an older image is used while no other process has the new one', async (t) => {
  const engine = memoryWarmPoolEngine();
  engine.images.set('berth/debian:12', { id: 'an older image', isOlder: true });
  const { members, service, storage, create } = await withPool(t, { engine });
  t.match(await create({}), { db_id: members[0] });
  const [next] = await poolOf(storage, 1);
  engine.images.delete('berth/debian:12');
  service.warmPool.soon();
  await waitFor(async () => !(await poolOf(storage, 1)).includes(next ?? ''));
});

t.test("members have the free tier's defaults, and stay while they run", async (t) => {
  const { runtime, service, storage, members } = await withPool(t);
  const free = (await storage.repositories.catalogue.tiers()).find(({ name }) => name === 'free');
  if (free === undefined) throw new Error('there is no free tier');
  service.warmPool.soon();
  await service.warmPool.stop();
  const specs = [...runtime.boxes.values()].map(({ spec }) => [spec.dbId, spec.resources]);
  t.same(specs, [[members[0], defaultResources(free)]]);
});

t.test('a member that is lost or ends is not given out, and keeps no other from being made', async (t) => {
  for (const mark of [{ isSilent: true }, { isEnding: true }] as const) {
    const { runtime, storage, service, members, create } = await withPool(t, { size: 2 });
    const [lost] = members;
    const { list, remove } = runtime;
    runtime.list = async () => (await list()).map((one) => (one.dbId === lost ? { ...one, ...mark } : one));
    const removed: string[] = [];
    runtime.remove = async (handle) => {
      removed.push(runtime.boxes.get(handle.runtimeId)?.spec.dbId ?? '');
      await remove(handle);
    };
    service.warmPool.soon();
    const rows = () => storage.repositories.warmPool.list(NOBODY, false);
    await waitFor(async () => {
      const ready = (await rows()).filter(({ state }) => state === 'ready');
      return ready.length === 2 && ready.every(({ dbId }) => dbId !== lost);
    });
    t.same(removed, [], 'no removal waits for its node');
    t.not((await create({})).db_id, lost);
    runtime.list = list;
    service.clock.advance(120_000);
    service.warmPool.soon();
    await waitFor(async () => (await rows()).every(({ dbId }) => dbId !== lost));
    t.same(removed, [lost], 'once it answers');
  }
});

t.test('a create that gets a member whose node is in maintenance makes its own container', async (t) => {
  const { runtime, members, call } = await withPool(t, { size: 1 });
  const { observe, start } = runtime;
  const isMember = (runtimeId: string) => members.includes(runtime.boxes.get(runtimeId)?.spec.dbId ?? '');
  runtime.observe = async (handle) =>
    isMember(handle.runtimeId) ? { kind: 'stopped', exitCode: 0 } : await observe(handle);
  runtime.start = async (handle) => {
    if (isMember(handle.runtimeId)) throw new NodeInMaintenance('it is drained');
    await start(handle);
  };
  const answer = await call('POST', '/api/containers', { name: 'dev' });
  t.match([answer.statusCode, answer.json().status], [201, 'running']);
  t.notOk(members.includes(answer.json().db_id));
});

t.test('a create that gets a member whose node does not answer makes its own container', async (t) => {
  const { runtime, members, call } = await withPool(t, { size: 2 });
  const { observe } = runtime;
  const lost: string[] = [];
  const silently = (isLost: (dbId: string) => boolean) => {
    runtime.observe = async (handle) => {
      const dbId = runtime.boxes.get(handle.runtimeId)?.spec.dbId ?? '';
      if (!isLost(dbId)) return await observe(handle);
      lost.push(dbId);
      return { kind: 'running', startedAt: new Date(0), isSilent: true };
    };
  };
  silently((dbId) => members.includes(dbId));
  const key = { 'idempotency-key': 'one' };
  const create = () => call('POST', '/api/containers', { name: 'dev' }, key);
  const answer = await create();
  t.match([answer.statusCode, answer.json().status], [201, 'running']);
  t.same(lost, members.slice(0, 1), 'of the members only the first was tried');
  t.notOk(members.includes(answer.json().db_id));
  t.equal((await create()).json().db_id, answer.json().db_id, 'a repeat gets the same one');
  const listed = (await call('GET', '/api/containers')).json().containers;
  t.match(listed, [{ db_id: answer.json().db_id, name: 'dev' }]);
  t.equal(listed.length, 1);

  silently(() => true);
  t.match(
    outcome(await call('POST', '/api/containers', { name: 'two' })),
    [503, 'container_unresponsive'],
    'nor does another node',
  );
});

t.test('a create that leaves a member behind is answered no later than any other', async (t) => {
  const createWaitMs = 600_000;
  const { runtime, members, call } = await withPool(t, { createWaitMs });
  const { observe, start } = runtime;
  const isMember = (runtimeId: string) => members.includes(runtime.boxes.get(runtimeId)?.spec.dbId ?? '');
  const { now } = performance;
  runtime.observe = async (handle) => {
    if (!isMember(handle.runtimeId)) return await observe(handle);
    // All the time has passed until its node is known to be silent.
    t.intercept(performance, 'now', { value: () => now.call(performance) + createWaitMs });
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  const goOn = Promise.withResolvers<void>();
  runtime.start = async (handle) => {
    await goOn.promise;
    await start(handle);
  };
  const { db_id, status } = (await call('POST', '/api/containers', { name: 'dev' })).json();
  t.equal(status, 'creating');
  t.notOk(members.includes(db_id));
  goOn.resolve();
  await waitFor(async () => (await call('GET', `/api/containers/${db_id}`)).json().status === 'running');
});
