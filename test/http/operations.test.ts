import { setImmediate as immediate } from 'node:timers/promises';
import t from 'tap';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import { failsOnce } from '../support/fails-once.ts';
import { dyingAt, pointsOf } from '../support/killed-update.ts';
import { aPerson, aService, as } from '../support/service.ts';

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

async function withContainer(options: Parameters<typeof aService>[1] = {}) {
  const runtime = memoryRuntime();
  const service = await aService({ runtime }, options);
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const patch = (over: object) =>
    call('PATCH', `/api/containers/${box.db_id}`, { name: 'dev', ...small, ...over });
  const now = async () => (await call('GET', `/api/containers/${box.db_id}`)).json();
  return { runtime, service, call, box, patch, now };
}

t.test('other limits come with another container on the same volume; the old one is gone', async (t) => {
  const { runtime, box, patch, now } = await withContainer();
  const answer = await patch({ memory_mb: 512 });
  t.equal(answer.statusCode, 200);
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

t.test('a new name alone, or nothing new, restarts nothing', async (t) => {
  const { box, patch, now } = await withContainer();
  t.match((await patch({ name: 'other' })).json(), {
    restarted: false,
    container: { id: box.id, name: 'other' },
  });
  t.match((await patch({ name: 'other' })).json(), { restarted: false });
  t.match(await now(), { id: box.id, name: 'other', status: 'running', status_reason: null });
});

t.test('a stopped one ends running with its new limits', async (t) => {
  const { call, box, patch } = await withContainer();
  await call('POST', `/api/containers/${box.db_id}/stop`);
  t.match((await patch({ cpu_shares: 200 })).json(), { restarted: true, container: { status: 'running' } });
});

t.test('every bad field is named and nothing changes', async (t) => {
  const { runtime, call, box, patch, now } = await withContainer();
  await call('POST', '/api/containers', { name: 'taken', ...small });
  const before = await now();
  const bad = await patch({ name: 'a b', memory_mb: 1, cpu_shares: 1, disk_mb: 1 });
  t.equal(bad.statusCode, 400);
  t.same(Object.keys(bad.json().fields).sort(), ['cpu_shares', 'disk_mb', 'memory_mb', 'name']);
  t.match((await patch({ name: 'taken' })).json(), { fields: { name: 'is already in use' } });
  const partial = await call('PATCH', `/api/containers/${box.db_id}`, { name: 'dev' });
  t.same(Object.keys(partial.json().fields).sort(), ['cpu_shares', 'disk_mb', 'memory_mb']);
  for (const payload of ['{', '']) {
    const headers = { 'content-type': 'application/json' };
    const answer = await call('PATCH', `/api/containers/${box.db_id}`, payload as unknown as object, headers);
    t.equal(answer.statusCode, 400, JSON.stringify(payload));
  }
  t.same(await now(), before);
  t.equal(runtime.boxes.size, 2);
});

for (const broken of ['create', 'start', 'stop'] as const) {
  t.test(
    `when ${broken} fails during an update the old container runs again with its old settings`,
    async (t) => {
      const { runtime, box, patch, now } = await withContainer();
      failsOnce(runtime, broken);
      const answer = await patch({ memory_mb: 512 });
      t.same([answer.statusCode, answer.json().error], [500, 'failed to update container']);
      t.match(await now(), { id: box.id, status: 'running', resources: small });
      t.equal(runtime.boxes.size, 1);
      t.match((await patch({ memory_mb: 512 })).json(), { restarted: true }, 'and it can be tried again');
    },
  );
}

t.test('a container that does not stay up is no update', async (t) => {
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

t.test(
  'a deleted container comes back stopped, on its volume, while nothing else has its place',
  async (t) => {
    const { runtime, call, box } = await withContainer();
    const restore = () => call('POST', `/api/containers/${box.db_id}/restore`);
    t.equal((await restore()).statusCode, 404, 'nothing to undo');
    await call('DELETE', `/api/containers/${box.db_id}`);
    t.equal(runtime.boxes.size, 0);
    const listed = async (query: string) =>
      (await call('GET', `/api/containers${query}`))
        .json()
        .containers.map((one: { db_id: string }) => one.db_id);
    t.same(await listed('?deleted=true'), [box.db_id]);
    t.same(await listed(''), []);
    const other = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
    t.equal((await restore()).json().code, 'name_taken');
    await call('DELETE', `/api/containers/${other.db_id}`);
    const kept = runtime.volumes.get(box.volume.name);
    runtime.volumes.delete(box.volume.name);
    t.equal(
      (await restore()).json().code,
      'container_not_found',
      'without its volume there is nothing to undo',
    );
    t.equal(runtime.volumes.has(box.volume.name), false, 'and no empty one takes its place');
    runtime.volumes.set(box.volume.name, kept as NonNullable<typeof kept>);
    t.match((await restore()).json(), {
      db_id: box.db_id,
      name: 'dev',
      status: 'stopped',
      volume: box.volume,
    });
    t.match([...runtime.boxes.values()], [{ spec: { volume: box.volume.name }, startedAt: null }]);
    t.match((await call('POST', `/api/containers/${box.db_id}/start`)).json(), {
      message: 'container started',
    });
  },
);

t.test('a deleted container comes back only where there is room for it', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  await service.ports.storage.repositories.users.change(ada.id, { tier: 'guest' });
  const call = as(service, ada);
  const create = async (name: string) =>
    `/api/containers/${(await call('POST', '/api/containers', { name, ...small })).json().db_id}`;
  const first = await create('first');
  await call('DELETE', first);
  const second = await create('second');
  t.equal((await call('POST', `${first}/restore`)).json().code, 'container_limit_reached');
  await call('DELETE', second);
  t.equal((await call('POST', `${first}/restore`)).statusCode, 200);
});

/** Lets the event loop turn: what was asked for in this process has come as far as it can by itself. */
async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await immediate();
}

t.test('calls of one kind join; those of another kind wait for their turn', async (t) => {
  const { runtime, service, call, box } = await withContainer();
  let stops = 0;
  const goOn = Promise.withResolvers<void>();
  const { stop } = runtime;
  runtime.stop = async (handle, grace) => {
    stops += 1;
    await goOn.promise;
    return await stop(handle, grace);
  };
  const path = `/api/containers/${box.db_id}`;
  const asked = [call('POST', `${path}/stop`), call('POST', `${path}/stop`)];
  await turns(50);
  asked.push(call('POST', `${path}/start`));
  await turns(50);
  goOn.resolve();
  const [one, two, start] = await Promise.all(asked);
  if (!one || !two || !start) return t.fail('not all were answered');
  t.same(one.json(), two.json());
  t.equal(stops, 1, 'one stop for both');
  t.equal(start.json().message, 'container started');
  const { events } = (service.ports.storage as unknown as { state: { events: { type: string }[] } }).state;
  t.same(
    events.map(({ type }) => type),
    ['container_created', 'container_stopped', 'container_started'],
  );
});

t.test('a start that waits behind a delete finds nothing', async (t) => {
  const { call, box } = await withContainer();
  const path = `/api/containers/${box.db_id}`;
  const [gone, start] = await Promise.all([call('DELETE', path), call('POST', `${path}/start`)]);
  t.equal(gone.statusCode, 200);
  t.equal(start.statusCode, 404);
  t.equal((await call('GET', path)).statusCode, 404);
});

t.test('an operation that a killed process left is ended by another one', async (t) => {
  for (const point of pointsOf([
    'create_fresh',
    'stop_old',
    'start_fresh',
    'verify_fresh',
    'commit',
    'remove_old',
  ])) {
    const { checkpoint, followedBy } = dyingAt(point);
    const { runtime, service, box, patch } = await withContainer({ checkpoint });
    void patch({ memory_mb: 512 });
    const next = await followedBy(service);
    const rows = await next.ports.storage.repositories.containers.listAllLive();
    t.match(rows, [{ dbId: box.db_id, state: 'running', resources: { memoryMb: 512 } }], point);
    t.equal(runtime.boxes.size, 1, 'one container for the row');
    t.match([...runtime.boxes.keys()], [rows[0]?.runtimeId]);
    t.equal((await next.ports.storage.repositories.operations.busy()).size, 0);
  }
});
