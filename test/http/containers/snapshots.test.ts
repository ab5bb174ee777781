import t from 'tap';
import type { MemoryRuntime } from '../../../src/adapters/memory/containers/container-runtime.ts';
import { restoreSnapshot } from '../../../src/app/containers/snapshots/restore-snapshot.ts';
import { floorBytes } from '../../../src/domain/containers/disk-quota.ts';
import { FILE_SYSTEM_MB } from '../../../src/domain/containers/snapshots/snapshot.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { waitFor } from '../../support/patience.ts';
import { aCaller, aUser } from '../../support/samples/samples.ts';
import { aServiceInTime } from '../../support/service/factors.ts';
import { failsOnce } from '../../support/service/faults.ts';
import { anAdmin, aPerson, as, small, stateOf } from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

const MIB = 1_048_576;
const HOUR_MS = 3_600_000;

/** Ada's running container with 40 MB in its volume, and 10 MB outside. */
async function aScene() {
  const service = await aServiceInTime();
  const runtime = service.ports.runtime as MemoryRuntime;
  const ada = await aPerson(service, 'ada');
  // A token outlives the days that pass.
  const call = as(service, (await as(service, ada)('POST', '/api/tokens', { name: 'test' })).json());
  const made = async (name: string, body: object = {}) =>
    (await call('POST', '/api/containers', { name, ...small, ...body })).json();
  const box = await made('dev', { env: { EDITOR: 'vi' } });
  const use = (mb: number): void => {
    runtime.volumes.set(box.volume.name, { quota: 'soft', usedBytes: mb * MIB, isResizable: true });
  };
  use(40);
  runtime.layers.set(box.id, 10 * MIB);
  const url = `/api/containers/${box.db_id}`;
  const take = (name: string, body: object = {}) => call('POST', `${url}/snapshots`, { name, ...body });
  const pass = async (hours: number): Promise<void> => {
    service.clock.advance(hours * HOUR_MS);
    await service.collectVolumes();
  };
  return { runtime, service, ada, call, made, box, use, url, take, pass, state: stateOf(service) };
}

t.test('a pass keeps the image of a snapshot that becomes ready during it', async (t) => {
  const { take, runtime, service, made } = await aScene();
  const { snapshotRetention, operations } = service.ports.storage.repositories;
  const { capture } = runtime;
  const [captured, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  runtime.capture = async (...args) => {
    const image = await capture(...args);
    captured.resolve();
    await goOn.promise;
    return image;
  };
  const taking = (async () => await take('base'))();
  await captured.promise;
  const { images } = snapshotRetention;
  snapshotRetention.images = async () => {
    const before = await images();
    goOn.resolve();
    await taking;
    await waitFor(async () => (await operations.busy()).size === 0);
    return before;
  };
  await service.reconcile();
  const { id, status } = (await taking).json();
  t.equal(status, 'ready');
  t.ok(runtime.images.has(`snapshot-${id}:layer`));
  t.match(await made('copy', { snapshot_id: id }), { status: 'running' });
});

t.test('a snapshot holds the image and a volume of its own, and starts a container', async (t) => {
  const { take, call, box, runtime, made, state } = await aScene();
  const taken = await take('base', { note: 'before the upgrade', labels: { team: 'a' } });
  t.equal(taken.statusCode, 201);
  const { id } = taken.json();
  t.match(taken.json(), {
    name: 'base',
    note: 'before the upgrade',
    labels: { team: 'a' },
    status: 'ready',
    container_id: box.db_id,
    container_name: 'dev',
    layer_mb: 10,
    volume_mb: 40,
    resources: small,
  });
  t.same((await call('GET', `/api/snapshots/${id}`)).json(), taken.json());
  t.ok(runtime.volumes.has(`snap-${id}`));
  t.match([...runtime.boxes.values()], [{ paused: false }], 'the container runs again');
  t.match(
    state.events.filter(({ type }) => type === 'snapshot_created'),
    [
      {
        dbId: box.db_id,
        data: { name: 'dev', status: 'running', snapshot: { id, name: 'base', status: 'ready' } },
      },
    ],
  );
  const copy = await made('copy', { snapshot_id: id, memory_mb: 512 });
  t.match(copy, { status: 'running', image: box.image, resources: { ...small, memory_mb: 512 } });
  t.match(runtime.volumes.get(copy.volume.name), { usedBytes: 40 * MIB });
  t.match(
    [...runtime.boxes.values()].find(({ spec }) => spec.dbId === copy.db_id)?.spec,
    { image: `snapshot-${id}:layer`, env: {} },
    'its values of the environment are not in a snapshot',
  );
});

t.test('what is missing or wrong is refused by field, and nothing is taken', async (t) => {
  const { take, call, url, use, runtime } = await aScene();
  const { id } = (await take('base')).json();
  const cases: readonly (readonly [string, string, object, number, object])[] = [
    ['a name with a space', `${url}/snapshots`, { name: 'a b' }, 400, { fields: { name: /letters/ } }],
    ['no name', `${url}/snapshots`, {}, 400, { fields: { name: /required/ } }],
    ['a taken name', `${url}/snapshots`, { name: 'base' }, 409, { code: 'snapshot_name_taken' }],
    [
      'a long note',
      `${url}/snapshots`,
      { name: 'x', note: 'n'.repeat(501) },
      400,
      { fields: { note: /500/ } },
    ],
    ['nine forks', `${url}/forks`, { count: 9 }, 400, { fields: { count: /8/ } }],
    ['a fork with a taken name', `${url}/forks`, { name: 'dev' }, 409, { code: 'name_taken' }],
    [
      'no such container',
      '/api/containers/none/snapshots',
      { name: 'x' },
      404,
      { code: 'container_not_found' },
    ],
    [
      'no such snapshot',
      '/api/containers',
      { name: 'x', snapshot_id: 'none' },
      400,
      { fields: { snapshot_id: /one of your/ } },
    ],
    [
      'an image too',
      '/api/containers',
      { name: 'x', snapshot_id: id, image: 'debian' },
      400,
      { fields: { image: /absent/ } },
    ],
  ];
  for (const [what, path, body, status, answer] of cases) {
    const refused = await call('POST', path, body);
    t.match([refused.statusCode, refused.json()], [status, answer], what);
  }
  t.equal(runtime.boxes.size, 1);
  use(600);
  const large = (await take('large')).json();
  const body = { name: 'x', ...small, snapshot_id: large.id };
  t.match((await call('POST', '/api/containers', body)).json(), { fields: { disk_mb: /at least 600/ } });
});

t.test('a container that the engine has lost must be started first', async (t) => {
  const { take, runtime, box } = await aScene();
  runtime.boxes.delete(box.id);
  t.match((await take('base')).json(), { code: 'snapshot_needs_start' });
});

t.test('number and disk are limited by the tier, and deleted snapshots make room', async (t) => {
  const { take, call, service, state } = await aScene();
  const root = as(service, await anAdmin(service));
  await root('PATCH', '/api/admin/tiers/free', { max_snapshots: 2, snapshot_mb: 200 });
  const [one, two] = [(await take('one')).json(), (await take('two')).json()];
  t.match((await take('three')).json(), { code: 'snapshot_limit_reached' });
  await root('PATCH', '/api/admin/tiers/free', { max_snapshots: 9 });
  t.match((await take('three')).json(), { code: 'snapshot_space_reached' });
  for (const { id } of [one, two]) t.equal((await call('DELETE', `/api/snapshots/${id}`)).statusCode, 200);
  t.same([(await take('three')).statusCode, (await take('four')).statusCode], [201, 201]);
  const purged = () => state.snapshots.filter(({ purgedAt }) => purgedAt !== null).map(({ name }) => name);
  t.same(purged(), [], 'twice the disk with deleted ones');
  const three = (await call('GET', '/api/snapshots?name=three')).json().snapshots[0];
  await call('DELETE', `/api/snapshots/${three.id}`);
  t.equal((await take('five')).statusCode, 201);
  t.same(purged(), ['one'], 'the first deleted one gives way');
});

t.test('live and deleted snapshots are at most twice as many as the tier allows', async (t) => {
  const { take, call, service, use, runtime, box, state } = await aScene();
  use(0);
  runtime.layers.set(box.id, 0);
  await as(service, await anAdmin(service))('PATCH', '/api/admin/tiers/free', { max_snapshots: 2 });
  for (let n = 1; n <= 7; n += 1) {
    const taken = await take(`empty-${n}`);
    t.equal(taken.statusCode, 201);
    if (n < 7) await call('DELETE', `/api/snapshots/${taken.json().id}`);
  }
  t.same(
    valuesOf(
      state.snapshots.filter(({ purgedAt }) => purgedAt === null),
      'name',
    ),
    ['empty-4', 'empty-5', 'empty-6', 'empty-7'],
  );
  await call('POST', `/api/containers/${box.db_id}/forks`, {});
  t.equal(
    state.snapshots.filter(({ deletedAt, purgedAt }) => deletedAt && !purgedAt).length,
    3,
    'a fork takes none',
  );
});

t.test('an empty snapshot is charged for its file system', async (t) => {
  const { take, service, use, runtime, box } = await aScene();
  use(0);
  runtime.layers.set(box.id, 0);
  const root = as(service, await anAdmin(service));
  await root('PATCH', '/api/admin/tiers/free', { snapshot_mb: FILE_SYSTEM_MB - 1 });
  t.match((await take('empty')).json(), { code: 'snapshot_space_reached' });
  await root('PATCH', '/api/admin/tiers/free', { snapshot_mb: FILE_SYSTEM_MB });
  t.equal((await take('empty')).statusCode, 201);
});

t.test('a deleted snapshot stays for the retention, and containers made from it stay for good', async (t) => {
  const { take, call, runtime, pass, service, made, box } = await aScene();
  const { id } = (await take('base')).json();
  const copy = await made('copy', { snapshot_id: id });
  t.match((await call('DELETE', `/api/snapshots/${id}`)).json(), { id, name: 'base', deleted: true });
  t.equal((await call('GET', `/api/snapshots/${id}`)).statusCode, 404);
  t.equal((await call('DELETE', `/api/snapshots/${id}`)).statusCode, 404);
  t.equal((await take('base')).statusCode, 201, 'its name is free');
  await pass(7 * 24);
  t.ok(runtime.volumes.has(`snap-${id}`), 'condemned, for a day');
  await pass(25);
  t.notOk(runtime.volumes.has(`snap-${id}`));
  await service.reconcile();
  t.ok(runtime.images.has(`snapshot-${id}:layer`), 'a container is made of it');
  for (const { db_id } of [copy, box]) await call('DELETE', `/api/containers/${db_id}`);
  await pass(7 * 24);
  await pass(25);
  await service.reconcile();
  t.notOk(runtime.images.has(`snapshot-${id}:layer`));
});

t.test('its owner restores a deleted snapshot while its data is kept', async (t) => {
  const { take, call, runtime, pass, service, made, state } = await aScene();
  const { id } = (await take('base')).json();
  await call('DELETE', `/api/snapshots/${id}`);
  const deleted = async () => (await call('GET', '/api/snapshots?deleted=true')).json().snapshots;
  t.match(await deleted(), [{ id, name: 'base', deleted_at: String }]);
  const restore = (body: object = {}) => call('POST', `/api/snapshots/${id}/restore`, body);
  const mallory = as(service, await aPerson(service, 'mallory'));
  t.equal((await mallory('POST', `/api/snapshots/${id}/restore`, {})).statusCode, 404);
  await take('base');
  t.match((await restore()).json(), { code: 'snapshot_name_taken' });
  t.match((await restore({ name: 'a b' })).json(), { fields: { name: /letters/ } });
  const root = as(service, await anAdmin(service));
  await root('PATCH', '/api/admin/tiers/free', { max_snapshots: 1 });
  t.match((await restore({ name: 'old' })).json(), { code: 'snapshot_limit_reached' });
  await root('PATCH', '/api/admin/tiers/free', { max_snapshots: 2 });
  await pass(7 * 24);
  const back = await restore({ name: 'old' });
  t.match([back.statusCode, back.json()], [200, { id, name: 'old', status: 'ready' }]);
  t.notOk('deleted_at' in back.json());
  t.same((await restore({ name: 'old' })).json(), back.json(), 'a repeat changes nothing');
  t.match(
    state.events.filter(({ type }) => type === 'snapshot_restored'),
    [{ data: { snapshot: { id, name: 'old', status: 'ready' } } }],
  );
  t.same(await deleted(), []);
  await pass(48);
  t.ok(runtime.volumes.has(`snap-${id}`), 'it was condemned, and stays');
  t.match(await made('copy', { snapshot_id: id }), { status: 'running' });
  await call('DELETE', `/api/snapshots/${id}`);
  await pass(7 * 24);
  await pass(25);
  t.equal((await restore()).statusCode, 404, 'too late');
});

t.test("after a transfer, nobody but its owner sees what becomes of a container's snapshot", async (t) => {
  const { take, call, url, service, ada, box, state } = await aScene();
  const bob = await aPerson(service, 'bob');
  const { id } = (await take('private')).json();
  const root = as(service, await anAdmin(service));
  t.equal((await root('POST', `/api/admin${url.slice(4)}/transfer`, { to: bob.id })).statusCode, 200);
  await call('DELETE', `/api/snapshots/${id}`);
  t.equal((await call('POST', `/api/snapshots/${id}/restore`, {})).statusCode, 200);
  for (const type of ['snapshot_deleted', 'snapshot_restored'])
    t.match(
      state.events.filter((event) => event.type === type),
      // By its own id, not the container's: Bob may share that.
      [{ dbId: id, ownerId: ada.id, data: { db_id: box.db_id, status: 'deleted', snapshot: { id } } }],
      type,
    );
});

t.test('a restore whose session ends while it waits restores nothing', async (t) => {
  const { take, call, service, ada, state } = await aScene();
  const { id } = (await take('base')).json();
  await call('DELETE', `/api/snapshots/${id}`);
  // The request was admitted by a session that has ended since.
  const caller = aCaller({ user: aUser({ id: ada.id }) });
  const restore = restoreSnapshot({ storage: service.ports.storage, clock: service.clock });
  const answer = await restore(id, undefined, caller, { ipAddress: '192.0.2.1', userAgent: '' });
  t.match(answer, { ok: false, error: { code: 'unauthorized' } });
  t.match(state.snapshots, [{ deletedAt: Date }]);
});

t.test('a snapshot that fails is undone: the container runs, and nothing of it is left', async (t) => {
  for (const step of ['pause', 'capture', 'copyVolume', 'resume'] as const) {
    const { take, call, url, runtime, service, pass } = await aScene();
    failsOnce(runtime, step);
    const failed = await take('base');
    t.match([failed.statusCode, failed.json().error], [500, 'failed to take snapshot'], step);
    await service.operations.takeOver();
    await service.operations.idle();
    t.match([...runtime.boxes.values()], [{ paused: false, startedAt: Date }], step);
    t.match((await call('GET', url)).json(), { status: 'running', status_reason: null });
    const [left] = (await call('GET', '/api/snapshots')).json().snapshots;
    t.equal(left.status, 'failed');
    await pass(0);
    await service.reconcile();
    t.same(
      [...runtime.volumes.keys()].filter((name) => name.startsWith('snap-')),
      [],
    );
    t.equal(runtime.images.size, 0);
    t.equal((await take('base')).statusCode, 201, 'its name is free');
  }
});

t.test('a container stays paused until the engine resumes it, and no longer', async (t) => {
  const { take, runtime, service, call, url } = await aScene();
  const { resume } = runtime;
  Object.assign(runtime, {
    resume: async () => {
      throw new RuntimeFailure('cannot resume');
    },
  });
  t.equal((await take('base')).statusCode, 500);
  t.match([...runtime.boxes.values()], [{ paused: true }]);
  const exec = await call('POST', `${url}/exec`, { command: ['true'] });
  t.match([exec.statusCode, exec.json()], [409, { code: 'container_paused' }]);
  Object.assign(runtime, { resume });
  await service.operations.takeOver();
  await service.operations.idle();
  t.match([...runtime.boxes.values()], [{ paused: false }]);
  t.equal((await call('GET', url)).json().status, 'running');
});

t.test('forks have the current files, limits and environment, and leave no snapshot', async (t) => {
  const { call, url, runtime, state, pass, service } = await aScene();
  const forked = await call('POST', `${url}/forks`, { count: 3, ephemeral: true, labels: { run: '7' } });
  t.equal(forked.statusCode, 201);
  const { containers } = forked.json();
  t.equal(containers.length, 3);
  for (const fork of containers) {
    t.match(fork, {
      name: /^dev-fork-[0-9a-f]{4}-\d$/,
      status: 'running',
      resources: small,
      labels: { run: '7' },
      lifetime: { ephemeral: true },
    });
    t.match(runtime.volumes.get(fork.volume.name), { usedBytes: 40 * MIB });
    const made = [...runtime.boxes.values()].find(({ spec }) => spec.dbId === fork.db_id);
    t.same(made?.spec.env, { EDITOR: 'vi' });
  }
  t.same((await call('GET', '/api/snapshots')).json().snapshots, []);
  t.same(
    state.events.map(({ type }) => type).filter((type) => type.startsWith('snapshot')),
    [],
    'the forks alone are announced',
  );
  await pass(0);
  t.same(
    [...runtime.volumes.keys()].filter((name) => name.startsWith('snap-')),
    [],
  );
  await service.reconcile();
  t.equal(runtime.images.size, 1, 'the forks are made of its image');
});

t.test('a fork fits the present tier of its owner, and the machine has room for all copies', async (t) => {
  const { call, url, runtime, service, box } = await aScene();
  runtime.layers.set(box.id, 100 * MIB);
  const root = as(service, await anAdmin(service));
  const fork = async (count: number) => (await call('POST', `${url}/forks`, { count })).json();
  const totalBytes = 100_000 * MIB;
  const free = (mb: number): void => {
    const freeBytes = floorBytes(totalBytes, null) + mb * MIB;
    runtime.host.spaces = [{ freeBytes, totalBytes, isPool: false }];
  };
  await root('PATCH', '/api/admin/tiers/free', { memory_mb: { min: 64, max: 128 }, layer_mb: 64 });
  t.match(await fork(1), { code: 'validation_failed', fields: { memory_mb: /to 128/ } });
  await root('PATCH', '/api/admin/tiers/free', { memory_mb: { min: 64, max: 512 } });
  t.match(await fork(1), { code: 'validation_failed', fields: { layer_mb: /100 MB are outside .* 64 MB/ } });
  await root('PATCH', '/api/admin/tiers/free', { layer_mb: 100, max_containers: 9 });
  free(100 + 3 * (40 + FILE_SYSTEM_MB));
  t.match(await fork(3), { code: 'host_disk_short' }, 'a copy for the snapshot, and one for each fork');
  t.match(await fork(2), { containers: [{}, {}] });
});

t.test('a fork whose snapshot fails leaves no container', async (t) => {
  const { call, url, runtime, pass, service } = await aScene();
  failsOnce(runtime, 'capture');
  t.equal((await call('POST', `${url}/forks`, { count: 2 })).statusCode, 500);
  await service.operations.takeOver();
  await service.operations.idle();
  t.match((await call('GET', '/api/containers')).json().containers, [{ name: 'dev', status: 'running' }]);
  t.equal(runtime.boxes.size, 1);
  await pass(0);
  t.equal(runtime.volumes.size, 1, 'the volumes of forks that were not made are removed at once');
});

t.test('a repeated request makes nothing twice', async (t) => {
  const { call, url, runtime } = await aScene();
  const key = { 'idempotency-key': 'k' };
  const twice = async (path: string, body: object) => [
    (await call('POST', path, body, key)).json(),
    (await call('POST', path, body, key)).json(),
  ];
  const [first, second] = await twice(`${url}/snapshots`, { name: 'base' });
  t.same(second, first);
  const [forks, again] = await twice(`${url}/forks`, { count: 2 });
  t.same(
    valuesOf(again.containers, 'db_id'),
    forks.containers.map(({ db_id }: { db_id: string }) => db_id),
  );
  t.equal(runtime.boxes.size, 3);
});

t.test('the list is filtered by container, label and status, and sorted', async (t) => {
  const { take, call, made, box } = await aScene();
  await take('b', { labels: { team: 'a' } });
  await take('a');
  const other = await made('other');
  await call('POST', `/api/containers/${other.db_id}/snapshots`, { name: 'c' });
  const names = async (query: string) =>
    (await call('GET', `/api/snapshots?${query}`)).json().snapshots.map(({ name }: { name: string }) => name);
  t.same(await names(''), ['c', 'a', 'b']);
  t.same(await names('sort=name'), ['a', 'b', 'c']);
  t.same(await names(`container=${box.db_id}`), ['a', 'b']);
  t.same(await names('label=team:a'), ['b']);
  t.same(await names('status=failed'), []);
});

t.test('a token for one container takes and reads its snapshots, and makes no container', async (t) => {
  const { call, take, url, service, made } = await aScene();
  const { id } = (await take('mine')).json();
  const other = await made('other');
  const hidden = (await call('POST', `/api/containers/${other.db_id}/snapshots`, { name: 'hidden' })).json();
  const asked = { name: 'narrow', scopes: ['write'], containers: ['dev'] };
  const narrow = as(service, (await call('POST', '/api/tokens/derive', asked)).json());
  t.equal((await narrow('POST', `${url}/snapshots`, { name: 'own' })).statusCode, 201);
  const { snapshots } = (await narrow('GET', '/api/snapshots')).json();
  t.same(valuesOf(snapshots, 'name'), ['own', 'mine']);
  t.equal((await narrow('GET', `/api/snapshots/${hidden.id}`)).statusCode, 404);
  for (const [method, path, body] of [
    ['POST', `${url}/forks`, {}],
    ['POST', '/api/containers', { name: 'x', snapshot_id: id }],
    ['DELETE', `/api/snapshots/${id}`, undefined],
  ] as const)
    t.match((await narrow(method, path, body)).json(), { code: 'token_restricted' }, path);
});
