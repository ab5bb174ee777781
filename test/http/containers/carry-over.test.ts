import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import type { PathChange } from '../../../src/domain/containers/layer-changes.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { NOBODY } from '../../support/database/stored.ts';
import { dyingAt, failsOnce, pointsOf } from '../../support/service/faults.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';

const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };
const large = { ...small, memory_mb: 512 };

const file = (path: string, sizeBytes: number | null = 4096): PathChange => ({
  path,
  kind: 'added',
  sizeBytes,
  isFolder: false,
});

/** A container in which the paths of `installed` are found; they can be changed. */
async function withInstalled(options: Parameters<typeof aService>[1] = {}) {
  const runtime = memoryRuntime();
  const installed = { paths: [file('/opt/tool/bin')], fault: null as Error | null, hangs: false };
  const { insight } = memoryAccess(runtime);
  const changes = async () => {
    if (installed.fault !== null) throw installed.fault;
    if (installed.hangs) await new Promise(() => {});
    return { paths: installed.paths, complete: true, layerBytes: 4096, debian: null };
  };
  const service = await aService({ runtime, insight: { ...insight, changes } }, options);
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const url = `/api/containers/${box.db_id}`;
  const patch = (over: object) => call('PATCH', url, { name: 'dev', ...small, ...over });
  const image = () => [...runtime.boxes.values()].map(({ spec }) => spec.image);
  return { runtime, service, call, box, url, patch, image, installed };
}

t.test('what was installed is carried over, and kept by whatever makes the container anew', async (t) => {
  const { runtime, service, call, box, url, patch, image } = await withInstalled();
  const answer = await patch({ ...large, carry_over: true });
  t.match(answer.json(), { restarted: true, container: { status: 'running', image: box.image } });
  t.notOk('left_behind' in answer.json(), 'nothing was left behind');
  const carried = `carried-${box.db_id}:g2`;
  t.same(image(), [carried]);

  await runtime.remove([...runtime.boxes.values()][0]?.handle as never);
  t.match((await call('POST', `${url}/start`)).json(), { recreated: true });
  t.same(image(), [carried], 'a start of a vanished one');
  await call('DELETE', url);
  await call('POST', `${url}/restore`);
  t.same(image(), [carried], 'a restore');
  await service.reconcile();
  t.same([...runtime.images.keys()], [carried], 'it is not put away while it is needed');
});

t.test('without carry_over the catalogue’s image is used again, and the answer tells the loss', async (t) => {
  const { runtime, service, box, patch, image, installed } = await withInstalled();
  await patch({ ...large, carry_over: true });
  installed.paths = [file('/srv/later')];
  const answer = (await patch({ ...small })).json();
  t.match(answer, { restarted: true, left_behind: { layer_bytes: 8192, complete: true } });
  t.same(
    answer.left_behind.files.map(({ path }: { path: string }) => path),
    ['/opt/tool/bin', '/srv/later'],
    'also what had been carried over before',
  );
  t.same(image(), [box.image]);
  await service.reconcile();
  t.equal(runtime.images.size, 0, 'nobody needs the private image any more');
  runtime.images.set('stray', { imageId: 'stray', reference: 'stray', dbId: NOBODY });
  await service.reconcile();
  t.same([...runtime.images.keys()], ['stray'], 'one of a row that is not there is left alone');
});

t.test('a replaced private image is put away; a second one holds everything', async (t) => {
  const { runtime, service, call, box, url, patch } = await withInstalled();
  await patch({ ...large, carry_over: true });
  await patch({ ...small, carry_over: true });
  t.equal(runtime.images.size, 2);
  await service.reconcile();
  t.same([...runtime.images.keys()], [`carried-${box.db_id}:g3`]);
  const changes = (await call('GET', `${url}/changes`)).json();
  t.match(changes.files, [{ path: '/opt/tool', added: 3 }], 'the report goes on from the catalogue’s image');
  await call('DELETE', url);
  await call('POST', `${url}/purge`, { name: 'dev' });
  await service.collectVolumes();
  await service.reconcile();
  t.equal(runtime.images.size, 0, 'a purge leaves none');
});

t.test('a loss that cannot be measured is said to be unknown, and stops nothing', async (t) => {
  const { patch, installed } = await withInstalled();
  installed.fault = new RuntimeFailure('disk on fire');
  t.match((await patch(large)).json(), { restarted: true, left_behind: null });
  t.notOk('left_behind' in (await patch({ ...small, carry_over: true })).json());
  installed.fault = null;
  t.match((await patch(large)).json(), { left_behind: { complete: false } }, 'what was carried is not known');
});

t.test('what has vanished is carried over no more, and keeps nothing from starting', async (t) => {
  const { runtime, service, call, url, patch, image, box } = await withInstalled();
  runtime.boxes.clear();
  const told = { restarted: true, left_behind: null };
  t.match((await patch({ ...large, carry_over: true })).json(), told, 'a container, and that is said');
  t.same(image(), [box.image]);
  await patch({ ...small, carry_over: true });
  runtime.boxes.clear();
  runtime.images.clear();
  t.match((await call('POST', `${url}/start`)).json(), { recreated: true }, 'an image');
  t.same(image(), [box.image]);
  const { snapshotImages } = service.ports.storage.repositories;
  t.equal(await snapshotImages.find(box.db_id), null, 'nor does anything else go by it');
});

t.test('nothing is left behind where nothing is made anew', async (t) => {
  const { runtime, patch } = await withInstalled();
  for (const over of [{ name: 'other' }, { name: 'other', carry_over: true }]) {
    const answer = (await patch(over)).json();
    t.match(answer, { restarted: false });
    t.notOk('left_behind' in answer);
  }
  t.equal(runtime.images.size, 0);
  const bad = await patch({ carry_over: 'yes' });
  t.match([bad.statusCode, bad.json()], [400, { fields: { carry_over: String } }]);
});

for (const broken of ['capture', 'create', 'start'] as const) {
  t.test(`when ${broken} fails, the old container runs again with what it had`, async (t) => {
    const { runtime, service, call, box, url, patch, image } = await withInstalled();
    await patch({ ...large, carry_over: true });
    const before = (await call('GET', url)).json();
    failsOnce(runtime, broken);
    t.equal((await patch({ ...small, carry_over: true })).statusCode, 500);
    t.match((await call('GET', url)).json(), { id: before.id, status: 'running', resources: large });
    const carried = `carried-${box.db_id}:g2`;
    t.same(image(), [carried]);
    await service.reconcile();
    t.same([...runtime.images.keys()], [carried], 'what was made for it is put away');
    t.match((await patch({ ...small, carry_over: true })).json(), { restarted: true }, 'and again');
  });
}

t.test('an image of an operation under way is not put away', async (t) => {
  const [captured, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const checkpoint = async (name: string): Promise<void> => {
    if (name !== 'update after capture_old') return;
    captured.resolve();
    await goOn.promise;
  };
  const { runtime, service, patch } = await withInstalled({ checkpoint });
  const patched = patch({ ...large, carry_over: true });
  await captured.promise;
  await service.reconcile();
  t.equal(runtime.images.size, 1);
  goOn.resolve();
  t.match((await patched).json(), { restarted: true });
});

t.test('a carry-over that a killed process left is ended by another one', async (t) => {
  for (const point of pointsOf([
    'measure_old',
    'stop_old',
    'capture_old',
    'create_fresh',
    'commit',
    'remove_old',
  ])) {
    const { checkpoint, followedBy } = dyingAt(point);
    const { runtime, service, box, patch, image } = await withInstalled({ checkpoint });
    void patch({ ...large, carry_over: true });
    const next = await followedBy(service);
    await next.reconcile();
    t.same(image(), [`carried-${box.db_id}:g2`], point);
    t.same([...runtime.images.keys()], [`carried-${box.db_id}:g2`]);
    t.match(await next.ports.storage.repositories.snapshotImages.find(box.db_id), {
      changes: { files: [{ path: '/opt/tool/bin' }] },
    });
  }
});
