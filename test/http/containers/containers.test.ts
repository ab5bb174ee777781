import t from 'tap';
import { memoryRuntime, type memoryStorage } from '../../../src/adapters/memory/index.ts';
import { subscribeToTerminalNotices } from '../../../src/app/terminals/terminal-messages.ts';
import {
  EngineFull,
  ImageUnavailable,
  NodeInMaintenance,
  RightMissing,
  RuntimeBusy,
  RuntimeUnavailable,
} from '../../../src/ports/containers/container-runtime.ts';
import { NOBODY } from '../../support/database/stored.ts';
import { aServiceInTime, from } from '../../support/service/factors.ts';
import {
  anAdmin,
  aPerson,
  aService,
  as,
  type Bearer,
  outcome,
  small,
  stateOf,
} from '../../support/service/service.ts';

const dev = { name: 'dev' };

/** Ada has a running container. */
async function aScene() {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const call = as(service, await aPerson(service, 'ada'));
  const { db_id, id } = (await call('POST', '/api/containers', dev)).json();
  const url = `/api/containers/${db_id}`;
  const now = async () => (await call('GET', url)).json();
  const spec = runtime.boxes.get(id)?.spec;
  if (spec === undefined) throw new Error('the container is not in the engine');
  /** The engine starts an unknown container: without a row, or of an earlier generation. */
  const stray = async (over: Partial<typeof spec>) => {
    const handle = await runtime.create({ ...spec, ...over });
    await runtime.start(handle);
    return handle;
  };
  return { runtime, service, call, db_id, id, url, now, stray };
}

const down = async (): Promise<never> => {
  throw new RuntimeUnavailable('no answer');
};

t.test('a container is created, listed, read, stopped, started and deleted', async (t) => {
  const service = await aService();
  const call = as(service, await aPerson(service, 'ada'));

  const made = await call('POST', '/api/containers', {
    ...dev,
    memory_mb: 512,
    cpu_shares: 250,
    disk_mb: 1024,
  });
  t.equal(made.statusCode, 201);
  const box = made.json();
  t.match(box, {
    id: /^[0-9a-f]{64}$/,
    name: 'dev',
    image: 'berth/debian:12',
    status: 'running',
    role: 'standard',
    resources: { memory_mb: 512, cpu_shares: 250, disk_mb: 1024 },
    volume: { name: `ws-${box.db_id}`, size_mb: 1024, quota: 'soft' },
    owner: { username: 'ada' },
  });
  t.same((await call('GET', '/api/containers')).json(), { containers: [box], total: 1 });
  t.same((await call('GET', '/api/containers?status=stopped')).json(), { containers: [], total: 0 });
  t.same((await call('GET', `/api/containers/${box.db_id}`)).json(), box, 'by the row id');
  t.same((await call('GET', `/api/containers/${box.id}`)).json(), box, 'by the runtime id');
  t.same((await call('GET', `/api/containers/${box.id.slice(0, 12)}`)).json(), box, 'by 12 digits of it');

  const { id } = box;
  const stopped = { message: 'container stopped', id, name: 'dev', status: 'stopped' };
  t.same((await call('POST', `/api/containers/${id}/stop`)).json(), stopped);
  t.same((await call('POST', `/api/containers/${id}/stop`)).json(), stopped, 'again');
  const started = { message: 'container started', id, name: 'dev', status: 'running' };
  t.same((await call('POST', `/api/containers/${id}/start`)).json(), started);
  t.same((await call('POST', `/api/containers/${id}/start`)).json(), started, 'again');
  const gone = await call('DELETE', `/api/containers/${id}`);
  t.same(gone.json(), { message: 'container deleted', id, db_id: box.db_id, name: 'dev' });
  t.equal((await call('GET', `/api/containers/${box.db_id}`)).statusCode, 404);
  t.same((await call('GET', '/api/containers')).json(), { containers: [], total: 0 });
});

t.test('a container lost by the engine is recreated, and the answer says so', async (t) => {
  const { runtime, call, id, url } = await aScene();
  runtime.boxes.clear();
  const answers = await Promise.all([1, 2, 3].map(() => call('POST', `${url}/start`)));
  t.equal(runtime.boxes.size, 1, 'exactly one, however many ask');
  const recreated = answers.map((answer) => answer.json()).filter((body) => body.recreated);
  t.match(recreated, [{ message: 'container recreated and started', old_id: id, volume_kept: true }]);
  t.not(recreated[0].id, id);
  t.equal((await call('GET', `/api/containers/${id}`)).statusCode, 404, 'the old runtime id is unknown now');
});

t.test(
  "an engine that returns empty keeps all rows and does not reuse another container's volume",
  async (t) => {
    const { runtime, service, call, url, now } = await aScene();
    const [boxes, volumes] = [new Map(runtime.boxes), new Map(runtime.volumes)];
    const others = [...volumes.keys()];
    for (const kept of [runtime.boxes, runtime.volumes]) kept.clear();
    await service.reconcile();
    t.match(await now(), { status: 'stopped' });
    t.match((await call('POST', `${url}/start`)).json(), { recreated: true, volume_kept: false });
    t.same([...runtime.volumes.keys()], others, 'of the same name');
    for (const kept of [runtime.boxes, runtime.volumes]) kept.clear();
    for (const [id, box] of boxes) runtime.boxes.set(id, box);
    for (const [name, volume] of volumes) runtime.volumes.set(name, volume);
    await service.reconcile();
    t.match((await call('POST', `${url}/start`)).json(), { recreated: true, volume_kept: true });
  },
);

t.test('every fault of a create is named at once, and nothing is made', async (t) => {
  const { runtime, call } = await aScene();
  const bad = {
    name: 'a b',
    image: 'nope',
    role: 'nope',
    memory_mb: 1,
    cpu_shares: 9e9,
    disk_mb: 1,
    env: { '2': 'x' },
  };
  const answer = await call('POST', '/api/containers', bad);
  t.equal(answer.statusCode, 400);
  t.equal(answer.json().code, 'validation_failed');
  t.same(Object.keys(answer.json().fields).sort(), Object.keys(bad).sort());
  t.equal((await call('POST', '/api/containers', {})).json().error, 'name is required');
  const asText = await call('POST', '/api/containers', { ...dev, memory_mb: '512' });
  t.equal(asText.statusCode, 400, 'no coercion');
  for (const [field, value] of [
    ['privileged', true],
    ['memoryMb', 512],
  ])
    t.match((await call('POST', '/api/containers', { ...dev, [`${field}`]: value })).json(), {
      error: `${field} is not a known field`,
    });
  t.equal(runtime.boxes.size, 1);
});

t.test('a name is unique among the live containers of its owner', async (t) => {
  const { service, call, url } = await aScene();
  const second = await call('POST', '/api/containers', dev);
  t.same([second.statusCode, second.json().error], [409, 'name already in use']);
  const eve = as(service, await aPerson(service, 'eve'));
  t.equal((await eve('POST', '/api/containers', dev)).statusCode, 201);
  await call('DELETE', url);
  t.equal((await call('POST', '/api/containers', dev)).statusCode, 201, 'free after a delete');
});

t.test("the tier's count holds, also for concurrent creates", async (t) => {
  const service = await aService();
  const call = as(service, await aPerson(service, 'ada'));
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, i) => call('POST', '/api/containers', { name: `dev-${i}` })),
  );
  t.same(answers.map((answer) => answer.statusCode).sort(), [201, 201, 201, 201, 201, 409, 409, 409]);
  const refused = answers.find((answer) => answer.statusCode === 409);
  t.same(refused?.json(), { error: 'container limit reached', code: 'container_limit_reached' });
});

t.test('what an engine lacks is said in words, and the container stays as it was', async (t) => {
  const { runtime, call, url } = await aScene();
  await call('POST', `${url}/stop`);
  const cases = [
    [new ImageUnavailable('image secret.example/x'), 'image_unavailable'],
    [new EngineFull('node secret-1: Insufficient memory'), 'engine_full'],
    [new NodeInMaintenance('the node secret-1 is drained'), 'node_in_maintenance'],
    [new RightMissing('create pods', '403 secret'), 'engine_right_missing'],
  ] as const;
  for (const [error, code] of cases) {
    const lacks = async (): Promise<never> => {
      throw error;
    };
    Object.assign(runtime, { create: lacks, start: lacks });
    for (const [method, path, body] of [
      ['POST', `${url}/start`, undefined],
      ['PATCH', url, { ...dev, memory_mb: 512, cpu_shares: 500, disk_mb: 1024 }],
      ['POST', '/api/containers', { ...dev, name: 'other' }],
    ] as const) {
      const answer = await call(method, path, body);
      t.match([answer.statusCode, answer.json()], [503, { code }], `${method} ${path}`);
      t.notMatch(answer.body, /secret/);
      if (error instanceof RightMissing) t.match(answer.json().error, /lacks a right .*: create pods$/);
    }
    const { containers } = (await call('GET', '/api/containers')).json();
    t.match(containers, [{ status: 'stopped', name: 'dev' }]);
  }
});

t.test('a node in maintenance takes restored containers, and refuses new limits before a stop', async (t) => {
  const { runtime, call, id, url, now } = await aScene();
  const { create } = runtime;
  runtime.create = async (spec) => {
    if (spec.mayStayStopped !== true) throw new NodeInMaintenance('it is paused');
    return await create(spec);
  };
  const limits = { ...dev, ...small, memory_mb: 512 };
  t.match((await call('PATCH', url, limits)).json(), { code: 'node_in_maintenance' });
  t.match(await now(), { id, status: 'running', status_reason: null });
  await call('DELETE', url);
  t.equal((await call('POST', `${url}/restore`)).statusCode, 200);
  t.match(await now(), { status: 'stopped', status_reason: null });
});

t.test('new limits of a stopped container on a node in maintenance apply at its next start', async (t) => {
  const { runtime, service, call, id, url, now } = await aScene();
  await call('POST', `${url}/stop`);
  const { create, start, observe } = runtime;
  runtime.create = async (spec) => {
    if (spec.mayStayStopped !== true) throw new NodeInMaintenance('it is drained');
    return await create(spec);
  };
  runtime.start = async () => {
    throw new NodeInMaintenance('it is drained');
  };
  runtime.observe = async (handle) => {
    const seen = await observe(handle);
    return seen.kind === 'stopped' ? { ...seen, isInMaintenance: true } : seen;
  };
  const answer = await call('PATCH', url, { ...dev, ...small, memory_mb: 512 });
  t.match([answer.statusCode, answer.json().restarted], [200, false]);
  await service.operations.idle();
  t.match(await now(), { status: 'stopped', status_reason: null, resources: { memory_mb: 512 } });
  const [event] = stateOf(service).events.slice(-1);
  t.match(event, { type: 'container_updated', data: { status: 'stopped', restarted: false } });
  t.notOk(runtime.boxes.has(id));
  t.match((await call('POST', `${url}/start`)).json(), { code: 'node_in_maintenance' });
  Object.assign(runtime, { create, start, observe });
  t.equal((await call('POST', `${url}/start`)).statusCode, 200);
  t.match([...runtime.boxes.values()], [{ spec: { resources: { memoryMb: 512 } }, startedAt: Date }]);
});

t.test('refused new limits leave a reason when the container has stopped for them', async (t) => {
  const { runtime, service, call, id, url, now } = await aScene();
  const { start } = runtime;
  const limits = { ...dev, ...small, memory_mb: 512 };
  runtime.start = async (handle) => {
    if (handle.runtimeId !== id) throw new EngineFull('no room');
    await start(handle);
  };
  t.match((await call('PATCH', url, limits)).json(), { code: 'engine_full' });
  const reason = 'it did not start with its new settings, so the old ones were restored';
  t.match(await now(), { id, status: 'running', status_reason: reason });
  t.match(stateOf(service).events.at(-1), { type: 'container_progress', data: { reason } });

  await call('POST', `${url}/stop`);
  await call('POST', `${url}/start`);
  runtime.create = async () => {
    throw new EngineFull('no room');
  };
  t.match((await call('PATCH', url, limits)).json(), { code: 'engine_full' });
  t.match(await now(), { id, status: 'running', status_reason: null }, 'it has never stopped');
});

t.test('a container whose node does not answer is as it was, and the client may try again', async (t) => {
  const { runtime, service, call, url, db_id } = await aScene();
  const root = as(service, await anAdmin(service));
  const lost = async () => {
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  const { stop, remove } = runtime;
  Object.assign(runtime, { stop: lost, remove: lost });
  for (const [method, path, by] of [
    ['POST', `${url}/stop`, call],
    ['DELETE', url, call],
    ['POST', `/api/admin/containers/${db_id}/stop`, root],
  ] as const) {
    const answer = await by(method, path);
    t.match(
      [answer.statusCode, answer.json()],
      [503, { code: 'container_unresponsive' }],
      `${method} ${path}`,
    );
    t.equal(answer.headers['retry-after'], '5');
    t.match((await call('GET', url)).json(), { status: 'running' });
  }
  Object.assign(runtime, { stop, remove });
  await call('DELETE', url);
  runtime.create = async () => {
    throw new EngineFull('exceeded quota');
  };
  const restored = await call('POST', `${url}/restore`);
  t.match([restored.statusCode, restored.json()], [503, { code: 'engine_full' }]);
});

t.test('a start never claims that something runs which ends, or whose node does not answer', async (t) => {
  const { runtime, call, url } = await aScene();
  const { observe, start } = runtime;
  runtime.observe = async () => ({ kind: 'running', startedAt: new Date(0), isSilent: true });
  const answer = await call('POST', `${url}/start`);
  t.match([answer.statusCode, answer.json().code], [503, 'container_unresponsive']);
  t.equal(answer.headers['retry-after'], '5');
  t.match((await call('GET', url)).json(), { status: 'running' }, 'as when last heard of');
  runtime.observe = async () => ({ kind: 'running', startedAt: new Date(0), isEnding: true });
  runtime.start = async (handle) => {
    Object.assign(runtime, { observe, start });
    await start(handle);
  };
  t.equal((await call('POST', `${url}/start`)).statusCode, 200);
  t.equal(runtime.start, start, 'the engine has started it');
  Object.assign(runtime, {
    observe: async () => ({ kind: 'running', startedAt: new Date(0), isEnding: true }),
    start: async () => {
      throw new RuntimeBusy('container_unresponsive', 5);
    },
  });
  t.match(outcome(await call('POST', `${url}/start`)), [503, 'container_unresponsive'], 'it does not end');
  t.match((await call('GET', url)).json(), { status: 'running' });
});

t.test('a start refused by the engine leaves the container stopped, with the reason', async (t) => {
  const { runtime, call, id, url, now } = await aScene();
  await call('POST', `${url}/stop`);
  const { start } = runtime;
  runtime.start = async () => {
    throw new Error('disk on fire at /secret/path');
  };
  const answer = await call('POST', `${url}/start`);
  t.same(answer.json(), { error: 'failed to start container', code: 'internal_error' });
  const reason = 'the engine could not start it';
  t.match(await now(), { id, status: 'stopped', status_reason: reason });
  runtime.start = start;
  t.match((await call('POST', `${url}/start`)).json(), { id, status: 'running' });
});

/** Later events by type, and `shut` when all terminals of a container close. */
function toldOf({ ports: { storage, bus } }: Awaited<ReturnType<typeof aService>>): () => string[] {
  const { state } = storage as ReturnType<typeof memoryStorage>;
  const before = state.events.length;
  const shut: string[] = [];
  subscribeToTerminalNotices(
    bus,
    ({ kind }) => void shut.push(kind),
    () => {},
  );
  return () => [...state.events.slice(before).map(({ type }) => type), ...shut];
}

t.test('a row settles once, and terminals close only where the container has stopped', async (t) => {
  const { runtime, service, call, url, now } = await aScene();
  const [box] = runtime.boxes.values();
  if (box === undefined) throw new Error('the container is not in the engine');
  const stopped = toldOf(service);
  const { list } = runtime;
  runtime.list = down;
  await t.rejects(service.reconcile(), RuntimeUnavailable);
  t.match(await now(), { status: 'running' }, 'a silent engine changes nothing');
  runtime.list = async () => {
    runtime.list = list;
    await call('POST', `${url}/stop`);
    return await list();
  };
  await service.reconcile();
  t.match(await now(), { status: 'stopped', status_reason: null });
  t.same(stopped(), ['container_stopped', 'shut'], 'a stop after the rows were read reports everything');
  const started = toldOf(service);
  box.startedAt = new Date(0);
  await service.reconcile();
  t.match(await now(), { status: 'running' });
  t.same(started(), ['container_started']);
  const ended = toldOf(service);
  box.startedAt = null;
  await service.reconcile();
  t.same(ended(), ['container_stopped', 'shut']);
});

for (const [what, old] of [
  ['a listing', 'list'],
  ['an observation', 'observe'],
] as const) {
  t.test(`${what} from before a start does not stop what has started since`, async (t) => {
    const { runtime, service, call, url, now } = await aScene();
    const [box] = runtime.boxes.values();
    if (box === undefined) throw new Error('the container is not in the engine');
    box.startedAt = null;
    const { [old]: read } = runtime as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const seen = toldOf(service);
    const late = async (...args: unknown[]) => {
      const before = await read?.(...args);
      Object.assign(runtime, { [old]: read });
      service.clock.advance(1_000);
      if (old === 'observe') await call('POST', `${url}/stop`);
      t.equal((await call('POST', `${url}/start`)).statusCode, 200);
      return before;
    };
    Object.assign(runtime, { [old]: late });
    await service.reconcile();
    t.match(await now(), { status: 'running', status_reason: null });
    t.notOk(seen().includes('shut'), 'its terminals stay open');
    box.startedAt = null;
    await service.reconcile();
    t.match(await now(), { status: 'stopped' }, 'a later pass sees its end');
  });
}

t.test('an engine container without a database row is stopped, and removed after an hour', async (t) => {
  const { runtime, service, call, id, url, now, stray } = await aScene();
  const unknown = await stray({ dbId: NOBODY });
  const { stop } = runtime;
  runtime.stop = down;
  await t.rejects(service.reconcile(), RuntimeUnavailable, 'a pass that could not stop it says so');
  let stops = 0;
  runtime.stop = async () => {
    stops += 1;
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  await t.resolves(service.reconcile(), 'one on a silent node waits for another pass');
  const { list } = runtime;
  for (const mark of [{ isSilent: true }, { isEnding: true }] as const) {
    runtime.list = async () => (await list()).map((one) => ({ ...one, ...mark }));
    await service.reconcile();
  }
  t.equal(stops, 1, 'no pass waits for what the engine knows not to answer, or to end');
  Object.assign(runtime, { stop, list });
  await service.reconcile();
  t.match(await runtime.observe(unknown), { kind: 'stopped' }, 'quarantined');
  service.clock.advance(3_599_000);
  await service.reconcile();
  t.match(await runtime.observe(unknown), { kind: 'stopped' }, 'kept for an hour');
  service.clock.advance(1_000);
  await service.reconcile();
  t.match(await runtime.observe(unknown), { kind: 'gone' });
  t.match(await now(), { id, status: 'running' }, 'others are not touched');
  await call('DELETE', url);
  const last = await stray({ generation: 1 });
  await service.reconcile();
  t.match(await runtime.observe(last), { kind: 'gone' }, 'what belongs to a deleted row goes at once');
});

t.test('a pass asks for the row of a container only if no row had named it', async (t) => {
  const { service, id, now, stray } = await aScene();
  const { containers } = service.ports.storage.repositories;
  const asked: string[] = [];
  const { findAny } = containers;
  containers.findAny = (dbId) => {
    asked.push(dbId);
    return findAny(dbId);
  };
  await service.reconcile();
  t.same(asked, []);
  await stray({ dbId: NOBODY });
  await service.reconcile();
  t.same(asked, [NOBODY]);
  t.match(await now(), { id, status: 'running' });
});

const MINUTE_MS = 60_000;

/** Two users with at most one live container each; `cycle` makes a container and deletes it. */
async function aSceneOfKept() {
  const service = await aServiceInTime();
  const runtime = service.ports.runtime as ReturnType<typeof memoryRuntime>;
  const { users } = service.ports.storage.repositories;
  const [ada, eve] = [await aPerson(service, 'ada'), await aPerson(service, 'eve')];
  for (const { id } of [ada, eve]) await users.change(id, { tier: 'guest' });
  const create = async (who: Bearer, name: string) =>
    await as(service, who)('POST', '/api/containers', { name, ...small });
  const cycle = async (who: Bearer, name: string): Promise<string> => {
    const { db_id } = (await create(who, name)).json();
    await as(service, who)('DELETE', `/api/containers/${db_id}`);
    service.clock.advance(1_000);
    return db_id;
  };
  return { service, runtime, ada, eve, create, cycle };
}

t.test('deleted containers count for their owner only', async (t) => {
  const { service, ada, eve, create, cycle } = await aSceneOfKept();
  const call = as(service, ada);
  const first = await cycle(ada, 'first');
  await cycle(ada, 'second');
  const refused = await create(ada, 'third');
  t.equal(refused.statusCode, 409);
  t.same(refused.json(), {
    error: 'deleted containers still count against your tier: delete one of them permanently: second, first',
    code: 'kept_limit_reached',
  });
  t.equal((await create(eve, 'third')).statusCode, 201, 'another user has room of her own');

  const purge = (name: string) => call('POST', `/api/containers/${first}/purge`, { name });
  t.match((await purge('second')).json(), { code: 'validation_failed', fields: { name: /name of the/ } });
  t.equal(
    (await as(service, eve)('POST', `/api/containers/${first}/purge`, { name: 'first' })).statusCode,
    404,
  );
  t.same((await purge('first')).json(), { message: 'container purged', db_id: first, name: 'first' });
  const { events } = stateOf(service);
  t.match(events.at(-1), { type: 'container_purged', dbId: first });
  t.equal((await purge('first')).statusCode, 404);
  t.equal((await call('POST', `/api/containers/${first}/restore`)).statusCode, 404);
  t.match((await create(ada, 'third')).json().error, /delete one of them permanently: second$/);
  await service.collectVolumes();
  t.equal((await create(ada, 'third')).statusCode, 201, 'once the volume is gone');
});

t.test('a restore needs the volume, and no more room than the container has already', async (t) => {
  const { service, runtime, ada, cycle } = await aSceneOfKept();
  const [first, second] = [await cycle(ada, 'first'), await cycle(ada, 'second')];
  const restore = (dbId: string) => as(service, ada)('POST', `/api/containers/${dbId}/restore`);
  t.equal((await restore(first)).statusCode, 200);
  await as(service, ada)('DELETE', `/api/containers/${first}`);
  const { volumeExists } = runtime;
  runtime.volumeExists = async () => {
    throw new RuntimeBusy('container_unresponsive', 5);
  };
  t.same(outcome(await restore(first)), [503, 'container_unresponsive'], 'its node is silent');
  t.same(outcome(await restore(NOBODY)), [404, 'container_not_found']);
  runtime.volumeExists = volumeExists;
  runtime.volumes.clear();
  for (const one of [first, second]) t.equal((await restore(one)).json().code, 'container_not_found');
});

t.test('the list of deleted containers shows the size and retention of each', async (t) => {
  const { service, ada, cycle } = await aSceneOfKept();
  const first = await cycle(ada, 'first');
  const list = async () => (await as(service, ada)('GET', '/api/containers?deleted=true')).json();
  const listed = async () => (await list()).containers[0];
  const { deleted_at, kept_until, ...box } = await listed();
  t.match(box, { db_id: first, status: 'deleted', volume: { size_mb: 512, used_mb: null } });
  t.match([box.keeps_installed, (await list()).kept_days], [false, 8]);
  await service.ports.storage.repositories.layerImages.put(first, { image: 'berth-carry/a', changes: null });
  t.equal((await listed()).keeps_installed, true);
  const days = (until: string) => (Date.parse(until) - Date.parse(deleted_at)) / 86_400_000;
  t.equal(days(kept_until), 8, 'the retention, and the day after it');
  await service.ports.storage.repositories.settings.change({ retentionDays: 30 });
  t.equal(days((await listed()).kept_until), 31);
  const restored = (await as(service, ada)('POST', `/api/containers/${first}/restore`)).json();
  t.notOk('kept_until' in restored || 'deleted_at' in restored, 'one that is there is not kept');
});

t.test("a guest's deleted container is gone within the hour", async (t) => {
  const { service, create, cycle } = await aSceneOfKept();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const guest: Bearer = (await from(service)('/api/auth/guest', {})).json();
  for (const name of ['first', 'second']) await cycle(guest, name);
  const [{ deleted_at, kept_until }] = (
    await as(service, guest)('GET', '/api/containers?deleted=true')
  ).json().containers;
  t.equal(Date.parse(kept_until) - Date.parse(deleted_at), 50 * MINUTE_MS);
  t.equal((await create(guest, 'third')).json().code, 'kept_limit_reached');
  service.clock.advance(50 * MINUTE_MS);
  await service.collectVolumes();
  t.equal((await create(guest, 'third')).statusCode, 201);
});
