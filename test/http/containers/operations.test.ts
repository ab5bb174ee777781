import { randomUUID } from 'node:crypto';
import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { type ContainerSpec, RuntimeBusy } from '../../../src/ports/containers/container-runtime.ts';
import { dyingAt, failsOnce } from '../../support/service/faults.ts';
import {
  anAdmin,
  aPerson,
  aService,
  as,
  auditOf,
  outcome,
  small,
  stateOf,
} from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

/** A running container of Ada's; `post` requests one of its actions. */
async function withContainer(options: Parameters<typeof aService>[1] = {}, tier = 'free') {
  const runtime = memoryRuntime();
  const service = await aService({ runtime }, options);
  const ada = await aPerson(service, 'ada');
  await service.ports.storage.repositories.users.change(ada.id, { tier });
  const call = as(service, ada);
  const create = async (name: string) => (await call('POST', '/api/containers', { name, ...small })).json();
  const box = await create('dev');
  const path = `/api/containers/${box.db_id}`;
  return {
    runtime,
    service,
    ada,
    call,
    create,
    box,
    path,
    patch: (over: object) => call('PATCH', path, { name: 'dev', ...small, ...over }),
    post: (action: string) => call('POST', `${path}/${action}`),
    remove: () => call('DELETE', path),
    now: async () => (await call('GET', path)).json(),
  };
}

t.test('new limits recreate the container on the same volume; the old one is removed', async (t) => {
  const { runtime, service, box, patch, now } = await withContainer();
  const { remove } = runtime;
  const removal = Promise.withResolvers<void>();
  runtime.remove = async (handle) => {
    await removal.promise;
    await remove(handle);
  };
  const answer = await patch({ memory_mb: 512 });
  t.equal(answer.statusCode, 200, 'done once the new one is recorded');
  t.equal(runtime.boxes.size, 2);
  removal.resolve();
  await service.operations.idle();
  t.match(answer.json(), {
    message: 'settings updated',
    restarted: true,
    container: { db_id: box.db_id, name: 'dev', status: 'running', resources: { ...small, memory_mb: 512 } },
  });
  t.not(answer.json().container.id, box.id);
  t.equal(runtime.boxes.size, 1);
  t.match([...runtime.boxes.values()], [{ spec: { volume: box.volume.name, generation: 2 } }]);
  t.match(await now(), { status: 'running', resources: { memory_mb: 512 } });
});

t.test('a recreate asks the engine only for what its steps have not shown', async (t) => {
  const { runtime, service, patch } = await withContainer();
  const asked: string[] = [];
  const noted = [
    'observe',
    'find',
    'volumeFacts',
    'volumeExists',
    'create',
    'stop',
    'start',
    'remove',
  ] as const;
  for (const name of noted) {
    const work = runtime[name] as (...args: unknown[]) => Promise<unknown>;
    Object.assign(runtime, {
      [name]: (...args: unknown[]) => {
        asked.push(name);
        return work(...args);
      },
    });
  }
  await patch({ memory_mb: 512 });
  await service.operations.idle();
  // Observed in the middle: to measure the loss, and to verify the new one.
  const prepared = ['observe', 'find', 'observe', 'volumeFacts', 'create'];
  const replaced = ['stop', 'start', 'observe', 'observe', 'observe'];
  t.same(asked, [...prepared, ...replaced, 'remove']);
});

t.test('a new name alone, or no change, restarts nothing', async (t) => {
  const { box, patch, now } = await withContainer();
  t.match((await patch({ name: 'other' })).json(), {
    restarted: false,
    container: { id: box.id, name: 'other' },
  });
  t.match((await patch({ name: 'other' })).json(), { restarted: false });
  t.match(await now(), { id: box.id, name: 'other', status: 'running', status_reason: null });
});

t.test('every bad field is named and nothing changes', async (t) => {
  const { runtime, call, create, path, patch, now } = await withContainer();
  await create('taken');
  const before = await now();
  let ended = 0;
  runtime.endHung = async () => {
    ended += 1;
    return true;
  };
  const bad = await patch({ name: 'a b', memory_mb: 1, cpu_shares: 1, disk_mb: 1 });
  t.equal(bad.statusCode, 400);
  t.same(Object.keys(bad.json().fields).sort(), ['cpu_shares', 'disk_mb', 'memory_mb', 'name']);
  t.match((await patch({ name: 'taken' })).json(), { fields: { name: 'is already in use' } });
  const partial = await call('PATCH', path, { name: 'dev' });
  t.same(Object.keys(partial.json().fields).sort(), ['cpu_shares', 'disk_mb', 'memory_mb']);
  for (const payload of ['{', '']) {
    const headers = { 'content-type': 'application/json' };
    const answer = await call('PATCH', path, payload as unknown as object, headers);
    t.equal(answer.statusCode, 400, JSON.stringify(payload));
  }
  t.same(await now(), before);
  t.equal(runtime.boxes.size, 2);
  t.equal(ended, 0, 'nor is a container that hangs ended for it');
});

for (const broken of ['create', 'start', 'stop'] as const) {
  t.test(`when ${broken} fails during an update the old container runs again unchanged`, async (t) => {
    const { runtime, box, patch, now } = await withContainer();
    failsOnce(runtime, broken);
    const answer = await patch({ memory_mb: 512 });
    t.same([answer.statusCode, answer.json().error], [500, 'failed to update container']);
    t.match(await now(), { id: box.id, status: 'running', resources: small });
    t.equal(runtime.boxes.size, 1);
    t.match((await patch({ memory_mb: 512 })).json(), { restarted: true }, 'and it can be tried again');
  });
}

t.test('a stop that an update awaits in vain leaves nothing down that ran', async (t) => {
  const { runtime, box, patch, now } = await withContainer();
  const { observe, stop, start } = runtime;
  runtime.stop = async () => {
    runtime.stop = stop;
    runtime.observe = async (handle) =>
      handle.runtimeId === box.id
        ? { kind: 'running', startedAt: new Date(0), isEnding: true }
        : await observe(handle);
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  const started: string[] = [];
  runtime.start = async (handle) => {
    started.push(handle.runtimeId);
    runtime.observe = observe;
    await start(handle);
  };
  t.match((await patch({ memory_mb: 512 })).json(), { code: 'container_unresponsive' });
  t.same(started, [box.id]);
  t.match(await now(), { id: box.id, status: 'running', resources: small });
});

t.test('a container that does not stay up fails its update', async (t) => {
  const { runtime, box, patch, now } = await withContainer();
  const { observe } = runtime;
  let starts = 0;
  runtime.observe = async (handle) => {
    const seen = await observe(handle);
    if (handle.runtimeId !== box.id && seen.kind === 'running' && ++starts > 1) {
      const fresh = runtime.boxes.get(handle.runtimeId);
      if (fresh) fresh.startedAt = null;
      return { kind: 'stopped', exitCode: 1 };
    }
    return seen;
  };
  t.equal((await patch({ memory_mb: 512 })).statusCode, 500);
  t.match(await now(), { id: box.id, status: 'running', resources: small });
});

t.test('a deleted container is restored stopped, on its volume, while its name is free', async (t) => {
  const { runtime, call, create, box, post, remove } = await withContainer();
  const code = async () => (await post('restore')).json().code;
  const listed = async (query: string) =>
    valuesOf((await call('GET', `/api/containers${query}`)).json().containers, 'db_id');
  t.equal(await code(), 'container_not_found', 'nothing to undo');
  await remove();
  t.same(
    outcome(await call('POST', `/api/containers/${box.id}/restore`)),
    [404, 'container_not_found'],
    'by its own id alone',
  );
  t.equal(runtime.boxes.size, 0);
  t.same([await listed('?deleted=true'), await listed('')], [[box.db_id], []]);
  const other = await create('dev');
  t.equal(await code(), 'name_taken');
  await call('DELETE', `/api/containers/${other.db_id}`);
  const { volume } = box;
  const kept = runtime.volumes.get(volume.name);
  runtime.volumes.delete(volume.name);
  t.equal(await code(), 'container_not_found', 'without its volume there is nothing to undo');
  t.equal(runtime.volumes.has(volume.name), false, 'and no empty one takes its place');
  runtime.volumes.set(volume.name, kept as NonNullable<typeof kept>);
  const back = { db_id: box.db_id, name: 'dev', status: 'stopped', volume };
  t.match((await post('restore')).json(), back);
  t.match([...runtime.boxes.values()], [{ spec: { volume: volume.name }, startedAt: null }]);
  t.match((await post('start')).json(), { message: 'container started' });
});

/** Lets the event loop turn until this process has done all it can. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await immediate();
}

t.test('operations of one kind join; those of another kind wait', async (t) => {
  const { runtime, service, post } = await withContainer();
  let stops = 0;
  const goOn = Promise.withResolvers<void>();
  const { stop } = runtime;
  runtime.stop = async (handle, grace) => {
    stops += 1;
    await goOn.promise;
    return await stop(handle, grace);
  };
  const both = [post('stop'), post('stop')] as const;
  await turns(50);
  const later = post('start');
  await turns(50);
  goOn.resolve();
  const [one, two] = await Promise.all(both);
  t.same(one.json(), two.json());
  t.equal(stops, 1, 'one stop for both');
  t.equal((await later).json().message, 'container started');
  const { events } = stateOf(service);
  t.same(valuesOf(events, 'type'), ['container_created', 'container_stopped', 'container_started']);
});

t.test('a start that waits behind a delete finds nothing', async (t) => {
  const { call, path, post, remove } = await withContainer();
  const [gone, start] = await Promise.all([remove(), post('start')]);
  t.same([gone.statusCode, start.statusCode], [200, 404]);
  t.equal((await call('GET', path)).statusCode, 404);
});

t.test("a replica takes over its last run's work at once, and never what it has just begun", async (t) => {
  const replica = randomUUID();
  const { checkpoint, followedBy } = dyingAt('update before create_fresh');
  const { runtime, service, ada, path, patch, now } = await withContainer({ checkpoint, replica });
  const { inTransaction } = service.ports.storage;
  let committed = async (): Promise<void> => {};
  const noted: typeof inTransaction = (work) => inTransaction(work).finally(() => committed());
  Object.assign(service.ports.storage, { inTransaction: noted });
  void patch({ memory_mb: 512 });
  const next = await followedBy(service, replica);
  t.match(await now(), { status: 'running', resources: { memory_mb: 512 } });

  committed = () => next.operations.takeOver();
  const stops: string[] = [];
  const { stop } = runtime;
  runtime.stop = async (handle, grace) => {
    stops.push(handle.runtimeId);
    return await stop(handle, grace);
  };
  t.equal((await as(next, ada)('POST', `${path}/stop`)).statusCode, 200);
  t.equal(stops.length, 1);
});

t.test('a start taken over on a node that does not answer ends, and blocks no delete', async (t) => {
  const { checkpoint, followedBy } = dyingAt('start before start_old');
  const { runtime, service, ada, path, post, now } = await withContainer({
    checkpoint: async (name) => {
      if (name === 'start before start_old') runtime.observe = silently;
      await checkpoint(name);
    },
  });
  const { observe } = runtime;
  const silently: typeof observe = async () => ({ kind: 'running', startedAt: new Date(0), isSilent: true });
  await post('stop');
  void post('start');
  const next = await followedBy(service);
  t.match(await now(), { status: 'stopped', status_reason: 'the engine could not start it' });
  runtime.observe = observe;
  t.equal((await as(next, ada)('DELETE', path)).statusCode, 200);
});

t.test('a start that was taken over on a silent node leaves its container to the row', async (t) => {
  for (const point of ['start before start_fresh', 'start after start_fresh']) {
    const { checkpoint, followedBy } = dyingAt(point);
    const { runtime, service, ada, box, path, post, now } = await withContainer({ checkpoint });
    const { observe, remove, start } = runtime;
    await post('stop');
    const root = as(service, await anAdmin(service));
    await root('PATCH', '/api/admin/tiers/free', { max_idle_seconds: 600 });
    runtime.boxes.delete(box.id);
    void post('start');
    const unresponsive = async () => {
      throw new RuntimeBusy('container_unresponsive', 5);
    };
    const isMade = point.includes('after');
    if (isMade)
      runtime.observe = async (handle) => {
        const seen = await observe(handle);
        return seen.kind === 'running' ? { ...seen, isSilent: true } : seen;
      };
    else Object.assign(runtime, { start: unresponsive, remove: unresponsive });
    const next = await followedBy(service);
    const [made] = runtime.boxes.values();
    const status = isMade ? 'running' : 'stopped';
    const reason = 'its node did not answer when it was started';
    t.match(await now(), { id: made?.handle.runtimeId, status, status_reason: reason }, point);
    const lifetime = isMade ? { idle_seconds: 600 } : null;
    t.match((await now()).lifetime, lifetime, 'what runs has the limits of its tier');
    t.equal(await next.ports.storage.repositories.operations.active(box.db_id), null, 'nothing is under way');
    const starts = auditOf(next, 'container_started').length;
    t.equal(starts, isMade ? 1 : 0, 'a start that was done is in the audit log');
    Object.assign(runtime, { observe, remove, start });
    const seen = stateOf(next).events.length;
    await next.reconcile();
    const cleared = stateOf(next).events.slice(seen);
    t.same(valuesOf(cleared, 'type'), isMade ? ['container_progress'] : [], 'those who watch it learn of it');
    const after = { id: made?.handle.runtimeId, status, ...(isMade && { status_reason: null }) };
    t.match(await now(), after, 'once the node is back');
    t.equal((await as(next, ada)('PATCH', path, { name: 'dev', ...small, memory_mb: 512 })).statusCode, 200);
    await next.operations.idle();
    t.match([...runtime.boxes.values()], [{ spec: { generation: 3, resources: { memoryMb: 512 } } }]);
  }
});

t.test('what a start has made without an answer is the container of the row', async (t) => {
  const { runtime, box, post, now } = await withContainer();
  await post('stop');
  runtime.boxes.delete(box.id);
  const { create } = runtime;
  const unresponsive = async () => {
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  Object.assign(runtime, {
    create: async (spec: ContainerSpec) => {
      await create(spec);
      return await unresponsive();
    },
    remove: unresponsive,
  });
  t.match((await post('start')).json(), { code: 'container_unresponsive' });
  const [made] = runtime.boxes.values();
  t.match(await now(), { id: made?.handle.runtimeId, status: 'stopped' });
});

t.test('concurrent updates are both done, the later one last', async (t) => {
  const { runtime, service, patch, now } = await withContainer();
  const { operations } = service.ports.storage.repositories;
  const { active } = operations;
  const { create } = runtime;
  let second: ReturnType<typeof patch> | undefined;
  // The first continues when the second has found it in progress.
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

t.test('a release that waits does not end the lease of a takeover meanwhile', async (t) => {
  let atStep = async (): Promise<void> => {};
  const { service, post } = await withContainer({ checkpoint: () => atStep() });
  const { operations } = service.ports.storage.repositories;
  const { release } = operations;
  atStep = () => Promise.reject(new Error('a fault'));
  operations.release = () => Promise.reject(new Error('no answer'));
  await post('stop');
  const answered = Promise.withResolvers<void>();
  operations.release = async (...asked) => {
    await answered.promise;
    await release(...asked);
  };
  const continues = Promise.withResolvers<void>();
  atStep = async () => {
    continues.resolve();
    await new Promise(() => {});
  };
  const renewing = service.operations.renew();
  service.clock.advance(16_000);
  const taking = service.operations.takeOver();
  for (let n = 0; n < 20; n += 1) await immediate();
  answered.resolve();
  await Promise.all([renewing, taking, continues.promise]);
  t.same(await operations.takeOver(randomUUID(), 60, false), []);
});

t.test('a process that lost its operation writes no outcome', async (t) => {
  const { runtime, service, post, box, now } = await withContainer();
  const { operations } = service.ports.storage.repositories;
  const { stop } = runtime;
  const other = randomUUID();
  runtime.stop = async (handle, grace) => {
    const mine = await operations.active(box.db_id);
    if (mine === null) throw new Error('nothing is under way');
    await operations.release(mine.id, mine.leaseOwner, mine.leaseNumber);
    t.equal((await operations.takeOver(other, 60, false)).length, 1);
    return await stop(handle, grace);
  };
  await post('stop');
  t.match(await operations.active(box.db_id), { leaseOwner: other, outcome: null });
  t.match(await now(), { status: 'stopping' });
  t.same(auditOf(service, 'container_stopped'), [], 'that is for the one that has it now');
});

t.test('an observation of a replaced container does not affect the new one', async (t) => {
  const { runtime, service, patch, now } = await withContainer();
  const { list } = runtime;
  runtime.list = async () => {
    runtime.list = list;
    await patch({ memory_mb: 512 });
    return await list();
  };
  await service.reconcile();
  t.match(await now(), { status: 'running', status_reason: null, resources: { memory_mb: 512 } });
});

t.test('a name taken during an update is a fault of its field', async (t) => {
  const { runtime, create, patch, now } = await withContainer();
  const { create: make } = runtime;
  runtime.create = async (spec) => {
    runtime.create = make;
    await create('other');
    return await make(spec);
  };
  const answer = await patch({ name: 'other', memory_mb: 512 });
  t.match([answer.statusCode, answer.json()], [400, { fields: { name: 'is already in use' } }]);
  t.match(await now(), { name: 'dev', status: 'running', resources: small });
});
