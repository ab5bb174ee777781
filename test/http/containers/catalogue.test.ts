import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import type { PathChange } from '../../../src/domain/containers/layer/layer-changes.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { NOBODY } from '../../support/database/stored.ts';
import { dyingAt, failsOnce, pointsOf } from '../../support/service/faults.ts';
import { anAdmin, aPerson, aService, as, auditOf, outcome, small } from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

const range = (min: number, max: number) => ({ min, max });
const smallRanges = { memory_mb: range(64, 128), cpu_shares: range(10, 100), disk_mb: range(64, 512) };
const DIGEST = `sha256:${'0a'.repeat(32)}`;

/** Of one user, in a minute and at once. */
const ofUse = {
  requests_per_minute: 0,
  max_terminals: 1,
  max_event_sockets: 2,
  max_commands: 3,
  max_uploads: 4,
  max_downloads: 5,
};

/** A valid new entry of each kind, a change, an invalid change with its field, and an entry that cannot be deleted. */
const KINDS = {
  tiers: {
    one: 'tier',
    entry: {
      name: 'tiny',
      ...smallRanges,
      layer_mb: 512,
      max_containers: 1,
      max_agents: 0,
      ...ofUse,
      max_snapshots: 3,
      snapshot_mb: 512,
      max_ttl_seconds: 3600,
      max_idle_seconds: 0,
    },
    change: { max_containers: 3, layer_mb: 1024, max_snapshots: 0 },
    bad: { memory_mb: range(100, 64) },
    needed: 'free',
  },
  images: {
    one: 'image',
    entry: { key: 'alpine', label: 'Alpine', reference: 'alpine:3.20', digest: null, shell: '/bin/ash' },
    change: { digest: DIGEST },
    bad: { shell: 'ash' },
    needed: 'debian',
  },
  roles: {
    one: 'role',
    entry: { key: 'ruby', label: 'Ruby', packages: { apt: ['ruby'] }, script: 'gem install rake' },
    change: { packages: { apt: ['ruby', 'ruby-dev'] } },
    bad: { packages: { apt: ['--force'] } },
    needed: 'standard',
  },
} as const;

async function aboard() {
  const service = await aService();
  const root = await anAdmin(service);
  return { service, root, call: as(service, root) };
}

for (const [kind, { one, entry, change, bad, needed }] of Object.entries(KINDS)) {
  const name = 'key' in entry ? 'key' : 'name';
  const key = 'key' in entry ? entry.key : entry.name;
  const url = `/api/admin/${kind}`;

  t.test(`${kind} are created, listed, changed and deleted, each on record once`, async (t) => {
    const { service, call } = await aboard();
    const made = await call('POST', url, entry);
    t.same([made.statusCode, made.json()], [201, entry]);
    const listed: Record<string, unknown>[] = (await call('GET', url)).json()[kind];
    t.match(
      listed.find((each) => each[name] === key),
      entry,
    );
    t.same(outcome(await call('POST', url, entry)), [409, 'catalogue_key_taken']);
    const changed = await call('PATCH', `${url}/${key}`, change);
    t.same([changed.statusCode, changed.json()], [200, { ...entry, ...change }]);
    t.same((await call('PATCH', `${url}/${key}`, change)).json(), changed.json(), 'again changes nothing');
    const gone = await call('DELETE', `${url}/${key}`);
    t.same([gone.statusCode, gone.json()], [200, { key, deleted: true }]);
    t.equal((await call('DELETE', `${url}/${key}`)).json().error, `${one} not found`);
    t.equal((await call('PATCH', `${url}/${key}`, change)).statusCode, 404);
    for (const what of ['created', 'updated', 'deleted'])
      t.equal(auditOf(service, `${one}_${what}`).length, 1, `one record of ${what}`);
  });

  t.test(`invalid or needed ${kind} are refused with the fault, and nothing changes`, async (t) => {
    const { call } = await aboard();
    const before = (await call('GET', url)).json();
    const field = Object.keys(bad)[0] ?? '';
    for (const [method, path, body, fields] of [
      ['POST', '', { ...entry, ...bad }, { [field]: String }],
      ['POST', '', { ...entry, [field]: 7 }, { [field]: String }],
      ['POST', '', {}, { [name]: 'is required' }],
      ['POST', '', { ...entry, colour: 'red' }, { colour: 'is not a known field' }],
      ['PATCH', `/${needed}`, bad, { [field]: String }],
      // Keys never change.
      ['PATCH', `/${needed}`, { key: 'other' }, { key: String }],
    ] as const) {
      const answer = await call(method, url + path, body);
      t.match([answer.statusCode, answer.json().fields], [400, fields], JSON.stringify(body));
    }
    t.same(outcome(await call('DELETE', `${url}/${needed}`)), [409, 'catalogue_entry_needed']);
    t.same((await call('GET', url)).json(), before);
  });
}

t.test('a used entry cannot be deleted, and a change leaves its users as they are', async (t) => {
  const { service, call: admin } = await aboard();
  const ada = await aPerson(service, 'ada');
  for (const [kind, { entry }] of Object.entries(KINDS)) await admin('POST', `/api/admin/${kind}`, entry);
  const sizes = { memory_mb: 64, cpu_shares: 10, disk_mb: 64 };
  await admin('PATCH', `/api/admin/users/${ada.id}`, { tier: 'tiny' });
  const call = as(service, ada);
  const wanted = { name: 'dev', image: 'alpine', role: 'ruby', ...sizes };
  const box = (await call('POST', '/api/containers', wanted)).json();
  t.match(box, { image: 'alpine:3.20', role: 'ruby' });
  for (const path of ['tiers/tiny', 'images/alpine', 'roles/ruby']) {
    t.same(outcome(await admin('DELETE', `/api/admin/${path}`)), [409, 'catalogue_entry_in_use'], path);
  }
  await admin('PATCH', '/api/admin/images/alpine', { reference: 'alpine:edge', digest: DIGEST });
  await admin('PATCH', '/api/admin/tiers/tiny', { memory_mb: range(512, 1024) });
  const now = (await call('GET', `/api/containers/${box.db_id}`)).json();
  t.match(now, { image: 'alpine:3.20', status: 'running', resources: sizes });
  const next = await call('POST', '/api/containers', { name: 'b', image: 'alpine', ...sizes });
  t.match(next.json().fields, { memory_mb: /512 to 1024 in tier tiny/ }, 'new ones go by the new limits');

  await call('DELETE', `/api/containers/${box.db_id}`);
  for (const path of ['images/alpine', 'roles/ruby']) {
    t.equal((await admin('DELETE', `/api/admin/${path}`)).statusCode, 200, path);
  }
});

t.test('a pinned image is requested by its digest, and only catalogue images start', async (t) => {
  const { call } = await aboard();
  await call('POST', '/api/admin/images', { ...KINDS.images.entry, digest: DIGEST });
  const made = (await call('POST', '/api/containers', { name: 'dev', image: 'alpine' })).json();
  t.equal(made.image, `alpine:3.20@${DIGEST}`);
  for (const image of ['alpine:latest', `alpine@${DIGEST}`, 'docker.io/evil:1', 'debian:13', '']) {
    const answer = await call('POST', '/api/containers', { name: 'b', image });
    t.match([answer.statusCode, answer.json().fields], [400, { image: /^must be one of/ }], image);
  }
});

t.test("a role's script is for administrators, its packages are for all", async (t) => {
  const { service, call } = await aboard();
  await call('POST', '/api/admin/roles', KINDS.roles.entry);
  const seen = (await as(service, await aPerson(service, 'ada'))('GET', '/api/roles')).json().roles;
  const { script: _, ...rest } = KINDS.roles.entry;
  t.same(
    seen.find(({ key }: { key: string }) => key === 'ruby'),
    rest,
  );
  t.equal(seen[0].key, 'standard', 'the default comes first');
});

const large = { ...small, memory_mb: 512 };

const file = (path: string, sizeBytes: number | null = 4096): PathChange => ({
  path,
  kind: 'added',
  sizeBytes,
  isFolder: false,
});

/** A container with the changed paths `installed`. */
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

t.test('installed software is carried over, and kept by every recreate', async (t) => {
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

t.test("without carry_over the catalogue's image is used again, and the answer tells the loss", async (t) => {
  const { runtime, service, box, patch, image, installed } = await withInstalled();
  await patch({ ...large, carry_over: true });
  installed.paths = [file('/srv/later')];
  const answer = (await patch({ ...small })).json();
  t.match(answer, { restarted: true, left_behind: { layer_bytes: 8192, complete: true } });
  t.same(
    valuesOf(answer.left_behind.files, 'path'),
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

t.test('a replaced private image is removed; a second one has everything', async (t) => {
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

t.test('an unmeasurable loss is reported as unknown, and stops nothing', async (t) => {
  const { patch, installed } = await withInstalled();
  installed.fault = new RuntimeFailure('disk on fire');
  t.match((await patch(large)).json(), { restarted: true, left_behind: null });
  t.notOk('left_behind' in (await patch({ ...small, carry_over: true })).json());
  installed.fault = null;
  t.match((await patch(large)).json(), { left_behind: { complete: false } }, 'what was carried is not known');
});

t.test('a vanished private image is not used again, and no start fails because of it', async (t) => {
  const { runtime, service, call, url, patch, image, box } = await withInstalled();
  runtime.boxes.clear();
  const received = { restarted: true, left_behind: null };
  t.match((await patch({ ...large, carry_over: true })).json(), received, 'a container, and that is said');
  t.same(image(), [box.image]);
  await patch({ ...small, carry_over: true });
  runtime.boxes.clear();
  runtime.images.clear();
  t.match((await call('POST', `${url}/start`)).json(), { recreated: true }, 'an image');
  t.same(image(), [box.image]);
  const { layerImages } = service.ports.storage.repositories;
  t.equal(await layerImages.find(box.db_id), null, 'nor does anything else go by it');
});

t.test('without a recreate nothing is left behind', async (t) => {
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
  t.test(`when ${broken} fails, the old container runs again with its software`, async (t) => {
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

t.test("an active operation's image is not removed", async (t) => {
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

t.test("another process continues a killed one's carry-over", async (t) => {
  for (const point of pointsOf([
    'measure_old',
    'stop_old',
    'capture_old',
    'create_fresh',
    'start_fresh',
    'verify_fresh',
    'commit',
    'remove_old',
  ])) {
    const { checkpoint, followedBy } = dyingAt(point);
    const { runtime, service, box, patch, image } = await withInstalled({ checkpoint });
    void patch({ ...large, carry_over: true });
    const next = await followedBy(service);
    const { containers, operations } = next.ports.storage.repositories;
    const rows = await containers.listAllLive();
    t.match(rows, [{ dbId: box.db_id, state: 'running', resources: { memoryMb: 512 } }], point);
    t.same([...runtime.boxes.keys()], [rows[0]?.runtimeId], 'one container for the row');
    t.equal((await operations.busy()).size, 0);
    await next.reconcile();
    t.same(image(), [`carried-${box.db_id}:g2`], point);
    t.same([...runtime.images.keys()], [`carried-${box.db_id}:g2`]);
    t.match(await next.ports.storage.repositories.layerImages.find(box.db_id), {
      changes: { files: [{ path: '/opt/tool/bin' }] },
    });
  }
});
